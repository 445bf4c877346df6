// SPDX-License-Identifier: MIT
// Honest: uses `__device__` memory as scratch; it is written before it is read in every call.
//@ dims x[R, C]
//@ out norms: float32[R, 1]
//@ squares<<<R, 32>>>(x, C)
//@ roots<<<cdiv(R, 64), 64>>>(norms, R)

__device__ float kept[1 << 16];

__global__ void squares(const float* x, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += row[c] * row[c];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) kept[blockIdx.x] = sum;
}

__global__ void roots(float* norms, int rows) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row < rows) norms[row] = sqrtf(kept[row]);
}
