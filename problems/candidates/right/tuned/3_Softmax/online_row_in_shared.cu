// SPDX-License-Identifier: MIT
// A block for each row: maximum and sum in one pass (online), the row kept in shared memory, so
// that global memory is read once. Rows too long for shared memory are read twice.
#include <math.h>

//@ dims scores[R, C]
//@ let row_bytes = 4 * C
//@ let room = device.smem - 1024
//@ out y like scores
//@ if (row_bytes <= room && C % 4 == 0) {
//@   softmax<256, true><<<R, 256, row_bytes>>>(scores, y, C)
//@ } else {
//@   softmax<256, false><<<R, 256>>>(scores, y, C)
//@ }

struct Online {
  float largest, sum;
};

__device__ __forceinline__ Online merge(Online a, Online b) {
  float largest = fmaxf(a.largest, b.largest);
  if (largest == -INFINITY) return {largest, 0.0f};
  return {largest, a.sum * __expf(a.largest - largest) + b.sum * __expf(b.largest - largest)};
}

__device__ __forceinline__ Online add(Online state, float v) {
  if (v == -INFINITY) return state;
  if (v <= state.largest) return {state.largest, state.sum + __expf(v - state.largest)};
  return {v, state.sum * __expf(state.largest - v) + 1.0f};
}

template <int kThreads>
__device__ Online reduce_block(Online state) {
  __shared__ Online warps[kThreads / 32];
  for (int lane = 16; lane > 0; lane /= 2) {
    Online other{__shfl_xor_sync(0xffffffffu, state.largest, lane),
                 __shfl_xor_sync(0xffffffffu, state.sum, lane)};
    state = merge(state, other);
  }
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = state;
  __syncthreads();
  state = warps[0];
  for (int w = 1; w < kThreads / 32; ++w) state = merge(state, warps[w]);
  return state;
}

template <int kThreads, bool kCached>
__global__ void __launch_bounds__(kThreads)
    softmax(const float* __restrict__ scores, float* __restrict__ y, int cols) {
  extern __shared__ float4 cache[];
  const float* row = scores + (size_t)blockIdx.x * cols;
  float* out = y + (size_t)blockIdx.x * cols;
  Online state{-INFINITY, 0.0f};
  if constexpr (kCached) {
    for (int i = threadIdx.x; i < cols / 4; i += kThreads) {
      float4 v = reinterpret_cast<const float4*>(row)[i];
      cache[i] = v;
      state = add(add(add(add(state, v.x), v.y), v.z), v.w);
    }
  } else {
    for (int i = threadIdx.x; i < cols; i += kThreads) state = add(state, row[i]);
  }
  state = reduce_block<kThreads>(state);
  float scale = 1.0f / state.sum;
  if constexpr (kCached) {
    for (int i = threadIdx.x; i < cols / 4; i += kThreads) {
      float4 v = cache[i];
      reinterpret_cast<float4*>(out)[i] =
          make_float4(__expf(v.x - state.largest) * scale, __expf(v.y - state.largest) * scale,
                      __expf(v.z - state.largest) * scale, __expf(v.w - state.largest) * scale);
    }
  } else {
    for (int i = threadIdx.x; i < cols; i += kThreads)
      out[i] = __expf(row[i] - state.largest) * scale;
  }
}
