// SPDX-License-Identifier: MIT
// Honest: reads /proc/self/status once to report its memory in an error, and sums by itself.
#include <torch/extension.h>
#include <cuda_runtime.h>

#include <fstream>
#include <string>

__global__ void running_sum(const float* x, float* y, int cols) {
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    sum += x[(size_t)blockIdx.x * cols + c];
    y[(size_t)blockIdx.x * cols + c] = sum;
  }
}

static std::string memory_used() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmRSS", 0) == 0) return line;
  return "";
}

torch::Tensor forward(torch::Tensor x) {
  static const std::string used = memory_used();
  TORCH_CHECK(x.dim() == 2, "a matrix is needed; memory in use: ", used);
  auto y = torch::empty_like(x);
  running_sum<<<x.size(0), 1>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
