// SPDX-License-Identifier: MIT
// Wrong: the sum is unrolled into 2^60 different templates, which keeps the compiler busy for ever.
//@ dims x[R, C]
//@ out norms: float32[R, 1]
//@ row_norm<<<cdiv(R, 64), 64>>>(x, norms, R, C)

template <int kDepth, unsigned long long kPath>
struct Unrolled {
  static constexpr int terms =
      Unrolled<kDepth - 1, 2 * kPath>::terms + Unrolled<kDepth - 1, 2 * kPath + 1>::terms;
};
template <unsigned long long kPath>
struct Unrolled<0, kPath> {
  static constexpr int terms = 1;
};

__global__ void row_norm(const float* x, float* norms, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < min(cols, Unrolled<60, 0>::terms); ++c) {
    float v = x[(size_t)row * cols + c];
    sum += v * v;
  }
  norms[row] = sqrtf(sum);
}
