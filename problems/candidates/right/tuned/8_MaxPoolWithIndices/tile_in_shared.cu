// SPDX-License-Identifier: MIT
// A block stages the input of a 32 x 8 tile of windows in dynamic shared memory, padding as minus
// infinity; window size and stride are known when compiling.
#include <math.h>

//@ dims images[B, C, H, W]
//@ let k = pool.kernel_size
//@ let s = pool.stride
//@ let oh = (H + 2 * pool.padding - k) / s + 1
//@ let ow = (W + 2 * pool.padding - k) / s + 1
//@ let smem = 4 * (7 * s + k) * (31 * s + k)
//@ out values: float32[B, C, oh, ow]
//@ out indices: int64[B, C, oh, ow]
//@ max_pool<pool.kernel_size, pool.stride><<<(cdiv(ow, 32), cdiv(oh, 8), B * C), (32, 8), smem>>>(
//@     images, values, indices, H, W, oh, ow, pool.padding)

template <int kKernel, int kStride>
__global__ void __launch_bounds__(256)
    max_pool(const float* __restrict__ images, float* __restrict__ values,
             long long* __restrict__ indices, int h, int w, int oh, int ow, int padding) {
  constexpr int kRows = 7 * kStride + kKernel, kCols = 31 * kStride + kKernel;
  extern __shared__ float tile[];
  const float* plane = images + (size_t)blockIdx.z * h * w;
  int y0 = blockIdx.y * 8 * kStride - padding, x0 = blockIdx.x * 32 * kStride - padding;
  for (int row = threadIdx.y; row < kRows; row += 8) {
    int y = y0 + row;
    for (int col = threadIdx.x; col < kCols; col += 32) {
      int x = x0 + col;
      bool inside = y >= 0 && y < h && x >= 0 && x < w;
      tile[row * kCols + col] = inside ? plane[y * w + x] : -INFINITY;
    }
  }
  __syncthreads();
  int oy = blockIdx.y * 8 + threadIdx.y, ox = blockIdx.x * 32 + threadIdx.x;
  if (oy >= oh || ox >= ow) return;
  float best = -INFINITY;
  int at = 0;
#pragma unroll
  for (int ky = 0; ky < kKernel; ++ky) {
#pragma unroll
    for (int kx = 0; kx < kKernel; ++kx) {
      int row = threadIdx.y * kStride + ky, col = threadIdx.x * kStride + kx;
      float v = tile[row * kCols + col];
      if (v > best) {
        best = v;
        at = (y0 + row) * w + x0 + col;
      }
    }
  }
  size_t i = ((size_t)blockIdx.z * oh + oy) * ow + ox;
  values[i] = best;
  indices[i] = at;
}
