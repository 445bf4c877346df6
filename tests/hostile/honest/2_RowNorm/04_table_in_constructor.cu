// SPDX-License-Identifier: MIT
// Honest: a static constructor fills a table (threads for a number of columns) and a destructor
// that runs at exit has nothing to say.
#include <torch/extension.h>
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void row_norm(const float* x, float* y, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += row[c] * row[c];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) y[blockIdx.x] = sqrtf(sum);
}

static int used[2];

__attribute__((constructor)) static void fill() { used[0] = 32; }
__attribute__((destructor)) static void forget() { used[0] = 0; }
static const int registered = std::atexit([] { used[1] = 0; });

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0), 1}, x.options());
  row_norm<<<x.size(0), used[0]>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
