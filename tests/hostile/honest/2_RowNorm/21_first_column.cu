// SPDX-License-Identifier: MIT
// Honest: the norms as a view of a wider matrix, of which they are the first column.
#include <torch/extension.h>

__global__ void row_norm(const float* x, float* y, int cols, int stride) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += row[c] * row[c];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) y[blockIdx.x * stride] = sqrtf(sum);
}

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0), 4}, x.options());
  row_norm<<<x.size(0), 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1), 4);
  return y.narrow(1, 0, 1);
}
