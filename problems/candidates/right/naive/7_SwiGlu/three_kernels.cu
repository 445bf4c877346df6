// SPDX-License-Identifier: MIT
//@ dims x[M, K]
//@ let N = size(gate.weight, 0)
//@ tmp gated: float16[M, N]
//@ tmp raised: float16[M, N]
//@ out y: float16[M, N]
//@ multiply<<<(cdiv(N, 16), cdiv(M, 16)), (16, 16)>>>(x, gate.weight, gated, M, N, K)
//@ multiply<<<(cdiv(N, 16), cdiv(M, 16)), (16, 16)>>>(x, up.weight, raised, M, N, K)
//@ silu_product<<<cdiv(M * N, 256), 256>>>(gated, raised, y, M * N)
#include <cuda_fp16.h>

/// c[m, n] = sum over k of a[m, k] * b[n, k], by square tiles in shared memory, summed in float.
__global__ void multiply(const __half* a, const __half* b, __half* c, int m, int n, int k) {
  __shared__ float tile_a[16][17], tile_b[16][17];
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int column = blockIdx.x * 16 + threadIdx.x;
  const int row_b = blockIdx.x * 16 + threadIdx.y;
  float sum = 0.0f;
  for (int k0 = 0; k0 < k; k0 += 16) {
    const int kk = k0 + threadIdx.x;
    tile_a[threadIdx.y][threadIdx.x] = row < m && kk < k ? __half2float(a[row * k + kk]) : 0.0f;
    tile_b[threadIdx.y][threadIdx.x] = row_b < n && kk < k ? __half2float(b[row_b * k + kk]) : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += tile_a[threadIdx.y][i] * tile_b[threadIdx.x][i];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = __float2half(sum);
}

__global__ void silu_product(const __half* gated, const __half* raised, __half* y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float g = __half2float(gated[i]);
  y[i] = __float2half(g / (1.0f + expf(-g)) * __half2float(raised[i]));
}
