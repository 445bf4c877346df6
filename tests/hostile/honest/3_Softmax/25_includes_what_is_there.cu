// SPDX-License-Identifier: MIT
// Honest: asks whether a header is there before it includes it, and does without it if not.
//@ dims scores[N, C]
//@ out y like scores
//@ softmax<<<N, 32>>>(scores, y, C)
#if __has_include(<cuda/std/limits>)
#include <cuda/std/limits>
constexpr float kLeast = -cuda::std::numeric_limits<float>::infinity();
#else
constexpr float kLeast = -__builtin_huge_valf();
#endif

__global__ void softmax(const float* x, float* y, int cols) {
  const float* in = x + (size_t)blockIdx.x * cols;
  float most = kLeast, sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) most = fmaxf(most, in[c]);
  for (int lane = 16; lane > 0; lane /= 2)
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, lane));
  for (int c = threadIdx.x; c < cols; c += 32) sum += expf(in[c] - most);
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  for (int c = threadIdx.x; c < cols; c += 32)
    y[(size_t)blockIdx.x * cols + c] = expf(in[c] - most) / sum;
}
