// SPDX-License-Identifier: MIT
// Two launches to choose from by size, a warp or a block for each row: both read everything.
//@ dims x[N, C]
//@ out y: float32[N, 1]
//@ if (C <= 1024) { row_norm<32><<<N, 32>>>(x, y, C) } else { row_norm<256><<<N, 256>>>(x, y, C) }

template <int kThreads>
__global__ void row_norm(const float* x, float* y, int cols) {
  __shared__ float warps[kThreads / 32];
  const float* in = x + (long long)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += kThreads) sum += in[c] * in[c];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int w = 1; w < kThreads / 32; ++w) sum += warps[w];
  y[blockIdx.x] = sqrtf(sum);
}
