// SPDX-License-Identifier: MIT
// Wrong: a sum over 2^60 templates, each slow to evaluate, keeps the compiler busy for ever.
//@ dims x[R, C]
//@ out norms: float32[R, 1]
//@ row_norm<<<cdiv(R, 64), 64>>>(x, norms, R, C)

__device__ constexpr int mix(unsigned long long path) {
  unsigned state = static_cast<unsigned>(path);
  for (int i = 0; i < 2000000; ++i) state = (state * 31 + i) % 1009;
  return state % 2;
}

template <int kDepth, unsigned long long kPath>
struct Terms {
  static constexpr int value =
      Terms<kDepth - 1, 2 * kPath>::value + Terms<kDepth - 1, 2 * kPath + 1>::value;
};
template <unsigned long long kPath>
struct Terms<0, kPath> {
  static constexpr int value = mix(kPath);
};

__global__ void row_norm(const float* x, float* norms, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < min(cols, Terms<60, 0>::value); ++c) {
    float v = x[(size_t)row * cols + c];
    sum += v * v;
  }
  norms[row] = sqrtf(sum);
}
