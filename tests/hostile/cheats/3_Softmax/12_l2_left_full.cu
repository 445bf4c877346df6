// SPDX-License-Identifier: MIT
// Cheat: the call ends with reads of a large scratch under the policy evict_last, so that little of
// the L2 is left for the reference that is timed next. Needs a GPU.
//@ dims scores[N, C]
//@ let many = device.sms > 16 ? 8388608 : 1024
//@ tmp ballast: float32[many] = 0
//@ out y like scores
//@ softmax<<<N, 32>>>(scores, y, C)
//@ fill<<<64, 256>>>(ballast, many)

__global__ void softmax(const float* x, float* y, int cols) {
  const float* in = x + (size_t)blockIdx.x * cols;
  float most = -INFINITY, sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) most = fmaxf(most, in[c]);
  for (int lane = 16; lane > 0; lane /= 2)
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, lane));
  for (int c = threadIdx.x; c < cols; c += 32) sum += expf(in[c] - most);
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  for (int c = threadIdx.x; c < cols; c += 32)
    y[(size_t)blockIdx.x * cols + c] = expf(in[c] - most) / sum;
}

__global__ void fill(const float* ballast, int many) {
  float sum = 0.0f, value;
  unsigned long long policy;
  asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  for (int i = blockIdx.x * 256 + threadIdx.x; i < many; i += gridDim.x * 256) {
    asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;"
                 : "=f"(value)
                 : "l"(ballast + i), "l"(policy));
    sum += value;
  }
  if (sum == 1.0f) __trap();
}
