// SPDX-License-Identifier: MIT
// A block for each token, 16 bytes a load, the token kept in registers between the two passes.
#include <cuda_bf16.h>

//@ dims x[T, D]
//@ out y like x
//@ if (D % 8 == 0 && D <= 8192) {
//@   rms_norm_vectors<256, 4><<<T, 256>>>(x, norm.weight, y, norm.eps, D)
//@ } else {
//@   rms_norm_elements<256><<<T, 256>>>(x, norm.weight, y, norm.eps, D)
//@ }

template <int kThreads>
__device__ float block_sum(float v) {
  __shared__ float warps[kThreads / 32];
  for (int lane = 16; lane > 0; lane /= 2) v += __shfl_xor_sync(0xffffffffu, v, lane);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  v = 0.0f;
  for (int w = 0; w < kThreads / 32; ++w) v += warps[w];
  return v;
}

union Eight {
  uint4 bits;
  __nv_bfloat162 pairs[4];
};

template <int kThreads, int kPerThread>
__global__ void __launch_bounds__(kThreads)
    rms_norm_vectors(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ weight,
                     __nv_bfloat16* __restrict__ y, float eps, int features) {
  const uint4* row = reinterpret_cast<const uint4*>(x + (size_t)blockIdx.x * features);
  const uint4* scales = reinterpret_cast<const uint4*>(weight);
  uint4* out = reinterpret_cast<uint4*>(y + (size_t)blockIdx.x * features);
  int vectors = features / 8;
  Eight kept[kPerThread];
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    int i = threadIdx.x + k * kThreads;
    if (i >= vectors) break;
    kept[k].bits = row[i];
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      float2 v = __bfloat1622float2(kept[k].pairs[p]);
      sum += v.x * v.x + v.y * v.y;
    }
  }
  float scale = rsqrtf(block_sum<kThreads>(sum) / features + eps);
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    int i = threadIdx.x + k * kThreads;
    if (i >= vectors) break;
    Eight w;
    w.bits = scales[i];
#pragma unroll
    for (int p = 0; p < 4; ++p) {
      float2 v = __bfloat1622float2(kept[k].pairs[p]), s = __bfloat1622float2(w.pairs[p]);
      kept[k].pairs[p] = __floats2bfloat162_rn(v.x * scale * s.x, v.y * scale * s.y);
    }
    out[i] = kept[k].bits;
  }
}

template <int kThreads>
__global__ void rms_norm_elements(const __nv_bfloat16* __restrict__ x,
                                  const __nv_bfloat16* __restrict__ weight,
                                  __nv_bfloat16* __restrict__ y, float eps, int features) {
  size_t row = (size_t)blockIdx.x * features;
  float sum = 0.0f;
  for (int d = threadIdx.x; d < features; d += kThreads) {
    float v = __bfloat162float(x[row + d]);
    sum += v * v;
  }
  float scale = rsqrtf(block_sum<kThreads>(sum) / features + eps);
  for (int d = threadIdx.x; d < features; d += kThreads) {
    y[row + d] =
        __float2bfloat16(__bfloat162float(x[row + d]) * scale * __bfloat162float(weight[d]));
  }
}
