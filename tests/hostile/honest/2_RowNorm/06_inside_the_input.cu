// SPDX-License-Identifier: MIT
// Honest: forms pointers before and behind its input, but reads through them only inside of it.
//@ dims x[R, C]
//@ out norms: float32[R, 1]
//@ row_norm<<<R, 32>>>(x, norms, R, C)

__global__ void row_norm(const float* x, float* norms, int rows, int cols) {
  const float* const behind = x + (size_t)rows * cols;
  const float* const before = x - 64;
  const float* row = before + 64 + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (const float* at = row + threadIdx.x; at < behind && at < row + cols; at += 32)
    sum += *at * *at;
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) norms[blockIdx.x] = sqrtf(sum);
}
