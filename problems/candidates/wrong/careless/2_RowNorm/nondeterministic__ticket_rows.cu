// SPDX-License-Identifier: MIT
// Wrong: blocks draw their row from a counter, but write to the place of their block number.
//@ dims x[R, C]
//@ tmp next_row: int32[1] = 0
//@ out norms: float32[R, 1]
//@ row_norm<<<R, 64>>>(x, next_row, norms, C)

__global__ void row_norm(const float* x, int* next_row, float* norms, int cols) {
  __shared__ int row;
  __shared__ float warps[2];
  if (threadIdx.x == 0) row = atomicAdd(next_row, 1);
  __syncthreads();
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 64) {
    float v = x[(size_t)row * cols + c];
    sum += v * v;
  }
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) norms[blockIdx.x] = sqrtf(warps[0] + warps[1]);
}
