// SPDX-License-Identifier: MIT
// Honest: blocks take rows by tickets, and each notes on which multiprocessor it runs, as code does
// that spreads its work over them; the answer does not depend on that.
//@ dims x[R, C]
//@ tmp tickets: int32[1] = 0
//@ tmp rows_of: int32[1024] = 0
//@ out norms: float32[R, 1]
//@ row_norm<<<32, 128>>>(x, tickets, rows_of, norms, R, C)
__global__ void row_norm(const float* x, int* tickets, int* rows_of, float* norms, int rows,
                         int cols) {
  __shared__ float parts[128];
  __shared__ int row;
  unsigned multiprocessor;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  while (true) {
    if (threadIdx.x == 0) row = atomicAdd(tickets, 1);
    __syncthreads();
    if (row >= rows) return;
    float sum = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
      const float value = x[static_cast<size_t>(row) * cols + c];
      sum += value * value;
    }
    parts[threadIdx.x] = sum;
    for (int half = 64; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    }
    if (threadIdx.x == 0) {
      norms[row] = sqrtf(parts[0]);
      atomicAdd(&rows_of[multiprocessor % 1024], 1);
    }
    __syncthreads();
  }
}
