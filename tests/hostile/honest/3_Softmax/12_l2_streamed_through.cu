// SPDX-License-Identifier: MIT
// Honest: reads what it needs twice, the second time for the last time, and says so: nothing of it
// stays in the L2 for long.
//@ dims scores[N, C]
//@ out y like scores
//@ softmax<<<N, 32>>>(scores, y, C)

__global__ void softmax(const float* x, float* y, int cols) {
  const float* in = x + (size_t)blockIdx.x * cols;
  float most = -INFINITY, sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) most = fmaxf(most, in[c]);
  for (int lane = 16; lane > 0; lane /= 2)
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, lane));
  for (int c = threadIdx.x; c < cols; c += 32) sum += expf(in[c] - most);
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  for (int c = threadIdx.x; c < cols; c += 32) {
    float value;
    asm volatile("ld.global.L1::no_allocate.L2::cache_hint.f32 %0, [%1], %2;"
                 : "=f"(value)
                 : "l"(in + c), "l"(policy));
    __stcs(y + (size_t)blockIdx.x * cols + c, expf(value - most) / sum);
  }
}
