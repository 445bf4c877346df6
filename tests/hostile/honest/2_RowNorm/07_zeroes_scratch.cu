// SPDX-License-Identifier: MIT
// Honest: casts const away and writes zeros too, but over scratch of its own, after use.
//@ dims x[R, C]
//@ tmp squares like x
//@ out norms: float32[R, 1]
//@ fill<<<R, 32>>>(x, squares, C)
//@ add<<<R, 32>>>(squares, norms, C)

__global__ void fill(const float* x, float* squares, int cols) {
  const size_t row = (size_t)blockIdx.x * cols;
  for (int c = threadIdx.x; c < cols; c += 32) squares[row + c] = x[row + c] * x[row + c];
}

__global__ void add(const float* squares, float* norms, int cols) {
  float* row = const_cast<float*>(squares) + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) {
    sum += row[c];
    row[c] = 0.0f;
  }
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) norms[blockIdx.x] = sqrtf(sum);
}
