// SPDX-License-Identifier: MIT
// A block for each row, everything in one online pass; the block that ends last divides the sum.
#include <math.h>

//@ dims logits[N, C]
//@ dims targets[N]
//@ tmp total: float64[1] = 0
//@ tmp done: int32[1] = 0
//@ out loss: float32[]
//@ if (C % 4 == 0) {
//@   cross_entropy<256, 4><<<N, 256>>>(logits, targets, total, done, loss, init.smoothing, C)
//@ } else {
//@   cross_entropy<256, 1><<<N, 256>>>(logits, targets, total, done, loss, init.smoothing, C)
//@ }

struct Row {
  float largest, exponentials, sum;
};

__device__ __forceinline__ Row merge(Row a, Row b) {
  float largest = fmaxf(a.largest, b.largest);
  if (largest == -INFINITY) return {largest, 0.0f, 0.0f};
  return {
      largest,
      a.exponentials * __expf(a.largest - largest) + b.exponentials * __expf(b.largest - largest),
      a.sum + b.sum};
}

template <int kThreads>
__device__ Row reduce_block(Row row) {
  __shared__ Row warps[kThreads / 32];
  for (int lane = 16; lane > 0; lane /= 2) {
    row = merge(row, {__shfl_down_sync(0xffffffffu, row.largest, lane),
                      __shfl_down_sync(0xffffffffu, row.exponentials, lane),
                      __shfl_down_sync(0xffffffffu, row.sum, lane)});
  }
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = row;
  __syncthreads();
  row = warps[0];
  for (int w = 1; w < kThreads / 32; ++w) row = merge(row, warps[w]);
  return row;
}

template <int kThreads, int kVector>
__global__ void __launch_bounds__(kThreads)
    cross_entropy(const float* __restrict__ logits, const long long* __restrict__ targets,
                  double* total, int* done, float* loss, float smoothing, int classes) {
  const float* z = logits + (size_t)blockIdx.x * classes;
  Row row{-INFINITY, 0.0f, 0.0f};
  for (int c = threadIdx.x * kVector; c < classes; c += kThreads * kVector) {
    if constexpr (kVector == 4) {
      float4 v = *reinterpret_cast<const float4*>(z + c);
      float largest = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
      row = merge(row, {largest,
                        __expf(v.x - largest) + __expf(v.y - largest) + __expf(v.z - largest) +
                            __expf(v.w - largest),
                        v.x + v.y + v.z + v.w});
    } else {
      row = merge(row, {z[c], 1.0f, z[c]});
    }
  }
  row = reduce_block<kThreads>(row);
  if (threadIdx.x != 0) return;
  float log_sum = row.largest + logf(row.exponentials);
  float mine =
      log_sum - (1.0f - smoothing) * z[targets[blockIdx.x]] - smoothing * row.sum / classes;
  atomicAdd(total, (double)mine);
  __threadfence();
  if (atomicAdd(done, 1) == (int)gridDim.x - 1) *loss = (float)(atomicAdd(total, 0.0) / gridDim.x);
}
