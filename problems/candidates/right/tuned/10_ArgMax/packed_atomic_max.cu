// SPDX-License-Identifier: MIT
// The dimension is split over blocks; value and position travel as one 64-bit key, so that a single
// atomic maximum joins the parts and the first of equal elements wins.
//@ dims x[B, D, I]
//@ let part = 128
//@ tmp keys: int64[B, I] = 0
//@ out index: int64[B, I]
//@ search<<<(cdiv(I, 64), cdiv(D, part), B), (64, 4)>>>(x, keys, D, I, part)
//@ unpack<<<cdiv(B * I, 256), 256>>>(keys, index, B * I)

// Larger floats have larger keys; the low half makes smaller positions larger. Never zero.
__device__ __forceinline__ unsigned long long pack(float value, unsigned position) {
  unsigned bits = __float_as_uint(value + 0.0f);  // −0 is 0
  bits = bits >> 31 ? ~bits : bits | 0x80000000u;
  return (unsigned long long)bits << 32 | (0xffffffffu - position);
}

__global__ void __launch_bounds__(256)
    search(const float* __restrict__ x, long long* keys, int dim, int inner, int part) {
  __shared__ unsigned long long rows[4][64];
  int i = blockIdx.x * 64 + threadIdx.x;
  unsigned long long best = 0;
  if (i < inner) {
    const float* column = x + (size_t)blockIdx.z * dim * inner + i;
    int end = min((int)(blockIdx.y + 1) * part, dim);
#pragma unroll 8
    for (int d = blockIdx.y * part + threadIdx.y; d < end; d += 4) {
      best = max(best, pack(column[(size_t)d * inner], d));
    }
  }
  rows[threadIdx.y][threadIdx.x] = best;
  __syncthreads();
  if (threadIdx.y != 0 || i >= inner) return;
  for (int r = 1; r < 4; ++r) best = max(best, rows[r][threadIdx.x]);
  atomicMax(reinterpret_cast<unsigned long long*>(keys) + (size_t)blockIdx.z * inner + i, best);
}

__global__ void unpack(const long long* keys, long long* index, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) index[i] = 0xffffffffu - (unsigned)keys[i];
}
