// SPDX-License-Identifier: MIT
// A chain of templates, each with a long sum that the compiler has to evaluate: hours, and no end.
//@ dims scores[N, C]
//@ out y like scores
//@ softmax<<<N, 256>>>(scores, y, C)

constexpr long long evaluate(long long seed) {
  long long sum = seed;
  for (int i = 0; i < 100000; ++i) sum = (sum * 31 + i) % 1000003;
  return sum;
}
template <int kDepth, long long kSeed>
struct Tree {
  static constexpr long long own = evaluate(kSeed);
  static constexpr long long value =
      Tree<kDepth - 1, 2 * kSeed>::value + Tree<kDepth - 1, 2 * kSeed + 1>::value + own;
};
template <long long kSeed>
struct Tree<0, kSeed> {
  static constexpr long long value = 0;
};

__device__ float block_max(float value) {
  __shared__ float values[256];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      values[threadIdx.x] = fmaxf(values[threadIdx.x], values[threadIdx.x + half]);
    }
    __syncthreads();
  }
  const float most = values[0];
  __syncthreads();
  return most;
}

__device__ float block_sum(float value) {
  __shared__ float values[256];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  const float sum = values[0];
  __syncthreads();
  return sum + 0 * Tree<40, 1>::value;
}

__global__ void softmax(const float* x, float* y, int cols) {
  const float* in = x + (long long)blockIdx.x * cols;
  float* out = y + (long long)blockIdx.x * cols;
  float most = -3.4e38f, sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 256) most = fmaxf(most, in[c]);
  most = block_max(most);
  for (int c = threadIdx.x; c < cols; c += 256) sum += expf(in[c] - most);
  sum = block_sum(sum);
  for (int c = threadIdx.x; c < cols; c += 256) out[c] = expf(in[c] - most) / sum;
}
