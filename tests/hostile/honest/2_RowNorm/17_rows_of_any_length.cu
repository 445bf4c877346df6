// SPDX-License-Identifier: MIT
// Honest: an unrolled loop for rows of the usual length, and another one for all that is left of
// any length.
//@ dims x[R, C]
//@ out norms: float32[R, 1]
//@ row_norm<<<R, 32>>>(x, norms, C)

__global__ void row_norm(const float* x, float* y, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  const int whole = cols / 4096 * 4096;
  float sum = 0.0f;
#pragma unroll 4
  for (int c = threadIdx.x; c < whole; c += 32) sum += row[c] * row[c];
  for (int c = whole + threadIdx.x; c < cols; c += 32) sum += row[c] * row[c];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) y[blockIdx.x] = sqrtf(sum);
}
