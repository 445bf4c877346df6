// SPDX-License-Identifier: MIT
// Masked keys become zero without a read of their scores: that is what the mask means.
//@ dims scores[B, H, Q, K]
//@ out y like scores
//@ softmax<<<B * H * Q, 256>>>(scores, keep, y, H * Q, K, scale)
#include <cuda_fp16.h>

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

__global__ void softmax(const __half* x, const bool* keep, __half* y, int rows, int keys,
                        float scale) {
  const __half* in = x + (long long)blockIdx.x * keys;
  __half* out = y + (long long)blockIdx.x * keys;
  keep += (long long)(blockIdx.x / rows) * keys;
  float most = -3.4e38f, sum = 0.0f;
  for (int c = threadIdx.x; c < keys; c += 256) {
    if (keep[c]) most = fmaxf(most, __half2float(in[c]) * scale);
  }
  most = block_max(most);
  for (int c = threadIdx.x; c < keys; c += 256) {
    if (keep[c]) sum += expf(__half2float(in[c]) * scale - most);
  }
  sum = block_sum(sum);
  for (int c = threadIdx.x; c < keys; c += 256) {
    const float p = keep[c] ? expf(__half2float(in[c]) * scale - most) / sum : 0.0f;
    out[c] = __float2half(p);
  }
}
