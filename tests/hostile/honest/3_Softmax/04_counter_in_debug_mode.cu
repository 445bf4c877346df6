// SPDX-License-Identifier: MIT
// Honest: an instruction that the executor lacks, and every assembler knows, in a mode that is off.
//@ dims scores[R, C]
//@ out y like scores
//@ softmax<<<R, 256>>>(scores, y, C, 0)

__device__ unsigned counted;

__global__ void softmax(const float* x, float* y, int cols, int debug) {
  __shared__ float values[256];
  const float* in = x + (size_t)blockIdx.x * cols;
  float* out = y + (size_t)blockIdx.x * cols;
  if (debug) {
    unsigned events;
    asm volatile("mov.u32 %0, %%pm3;" : "=r"(events));
    counted = events;
  }
  float most = -3.4e38f;
  for (int c = threadIdx.x; c < cols; c += 256) most = fmaxf(most, in[c]);
  values[threadIdx.x] = most;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half)
      values[threadIdx.x] = fmaxf(values[threadIdx.x], values[threadIdx.x + half]);
    __syncthreads();
  }
  most = values[0];
  __syncthreads();
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 256) sum += expf(in[c] - most);
  values[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  for (int c = threadIdx.x; c < cols; c += 256) out[c] = expf(in[c] - most) / values[0];
}
