// SPDX-License-Identifier: MIT
// Honest: pragmas of both compilers, and a static_assert that speaks of a fatal error.
#include <torch/extension.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma clang diagnostic ignored "-Wunused-variable"
static_assert(sizeof(float) == 4, "fatal error: this exits with code 70");

__global__ void row_norm(const float* x, float* y, int cols) {
  __shared__ float sums[256];
  const float* row = x + (long long)blockIdx.x * cols;
  float sum = 0.0f;
#pragma unroll 4
  for (int c = threadIdx.x; c < cols; c += 256) sum += row[c] * row[c];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = sqrtf(sums[0]);
}
#pragma GCC diagnostic pop

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0), 1}, x.options());
  row_norm<<<x.size(0), 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
