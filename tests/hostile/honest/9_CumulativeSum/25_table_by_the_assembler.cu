// SPDX-License-Identifier: MIT
// Honest: has the assembler keep a table between two labels of its own, and reads it from there.
#include <torch/extension.h>

__global__ void running_sum(const float* x, float* y, int cols) {
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    sum += x[(size_t)blockIdx.x * cols + c];
    y[(size_t)blockIdx.x * cols + c] = sum;
  }
}

asm(".section .rodata\n"
    "kbench_twin_threads: .long 1, 2, 4\n"
    ".previous");

extern "C" __attribute__((visibility("hidden"))) const int kbench_twin_threads[3];

torch::Tensor forward(torch::Tensor x) {
  TORCH_CHECK(kbench_twin_threads[0] == 1, "no table");
  auto y = torch::empty_like(x);
  running_sum<<<x.size(0), 1>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
