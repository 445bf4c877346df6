// SPDX-License-Identifier: MIT
// One cooperative launch: sums of chunks, a barrier across the grid, then every chunk is scanned
// from where the chunks before it end.
#include <cooperative_groups.h>

//@ dims x[R, C]
//@ let chunk = 2048
//@ let chunks = cdiv(C, chunk)
//@ tmp sums: float32[R, chunks]
//@ out y like x
//@ cooperative scan<256, 8><<<min(R * chunks, 2 * device.sms), 256>>>(x, sums, y, R, C, chunks)

// The inclusive scan of one value for each thread, and the sum over the block.
template <int kThreads>
__device__ float2 scan_block(float v) {
  __shared__ float warps[kThreads / 32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int distance = 1; distance < 32; distance *= 2) {
    float left = __shfl_up_sync(0xffffffffu, v, distance);
    if (lane >= distance) v += left;
  }
  __syncthreads();
  if (lane == 31) warps[warp] = v;
  __syncthreads();
  float total = 0.0f;
  for (int w = 0; w < kThreads / 32; ++w) {
    if (w == warp) v += total;
    total += warps[w];
  }
  return make_float2(v, total);
}

template <int kThreads, int kEach>
__global__ void __launch_bounds__(kThreads)
    scan(const float* __restrict__ x, float* sums, float* __restrict__ y, int rows, int cols,
         int chunks) {
  int tasks = rows * chunks;
  for (int task = blockIdx.x; task < tasks; task += gridDim.x) {
    int row = task / chunks, begin = task % chunks * kThreads * kEach;
    float sum = 0.0f;
    for (int k = 0; k < kEach; ++k) {
      int c = begin + k * kThreads + threadIdx.x;
      if (c < cols) sum += x[(size_t)row * cols + c];
    }
    float total = scan_block<kThreads>(sum).y;
    if (threadIdx.x == 0) sums[task] = total;
  }
  cooperative_groups::this_grid().sync();
  for (int task = blockIdx.x; task < tasks; task += gridDim.x) {
    int row = task / chunks, chunk = task % chunks, begin = chunk * kThreads * kEach;
    float before = 0.0f;
    for (int c = threadIdx.x; c < chunk; c += kThreads) before += sums[row * chunks + c];
    float start = scan_block<kThreads>(before).y;
    for (int k = 0; k < kEach; ++k) {
      int c = begin + k * kThreads + threadIdx.x;
      float2 scanned = scan_block<kThreads>(c < cols ? x[(size_t)row * cols + c] : 0.0f);
      if (c < cols) y[(size_t)row * cols + c] = start + scanned.x;
      start += scanned.y;
    }
  }
}
