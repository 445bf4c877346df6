// SPDX-License-Identifier: MIT
//@ dims scores[B, H, Q, K]
//@ dims keep[B, K]
//@ tmp masked like scores
//@ out y like scores
//@ scale_mask<<<cdiv(numel(scores), 256), 256>>>(scores, keep, masked, scale, H * Q, K,
//@                                              numel(scores))
//@ softmax<<<B * H * Q, 128>>>(masked, y, K)
#include <cuda_fp16.h>

__global__ void scale_mask(const __half* scores, const bool* keep, __half* masked, float scale,
                           int rows, int keys, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const int batch = i / keys / rows;
  const float lowest = __int_as_float(0xff800000);
  masked[i] =
      __float2half(keep[batch * keys + i % keys] ? __half2float(scores[i]) * scale : lowest);
}

__global__ void softmax(const __half* in, __half* out, int keys) {
  __shared__ float values[128];
  const __half* row = in + blockIdx.x * keys;
  float largest = __int_as_float(0xff800000);
  for (int i = threadIdx.x; i < keys; i += 128) largest = fmaxf(largest, __half2float(row[i]));
  values[threadIdx.x] = largest;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      values[threadIdx.x] = fmaxf(values[threadIdx.x], values[threadIdx.x + half]);
    }
    __syncthreads();
  }
  largest = values[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = threadIdx.x; i < keys; i += 128) sum += expf(__half2float(row[i]) - largest);
  values[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < keys; i += 128) {
    out[blockIdx.x * keys + i] = __float2half(expf(__half2float(row[i]) - largest) / values[0]);
  }
}
