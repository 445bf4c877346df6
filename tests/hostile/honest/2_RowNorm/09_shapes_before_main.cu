// SPDX-License-Identifier: MIT
// Honest: a constructor that the loader runs works out a table that no input changes: the shapes of
// launches.
#include <torch/extension.h>

__global__ void row_norm(const float* x, float* y, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += row[c] * row[c];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) y[blockIdx.x] = sqrtf(sum);
}

static int threads[64];

__attribute__((constructor)) static void work() {
  for (int rows = 0; rows < 64; ++rows) threads[rows] = 32;
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0), 1}, x.options());
  const int rows = x.size(0);
  row_norm<<<rows, threads[std::min<int>(rows, 63)]>>>(x.data_ptr<float>(), y.data_ptr<float>(),
                                                       x.size(1));
  return y;
}
