// SPDX-License-Identifier: MIT
// Honest: a few lines of assembler put a text into a section of its own.
#include <torch/extension.h>

__global__ void row_norm(const float* x, float* y, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += row[c] * row[c];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) y[blockIdx.x] = sqrtf(sum);
}

asm(".section .remark, \"a\", @progbits\n"
    ".asciz \"row norms, one warp a row\"\n"
    ".previous");

torch::Tensor forward(torch::Tensor x) {
  auto y = torch::empty({x.size(0), 1}, x.options());
  row_norm<<<x.size(0), 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
