// SPDX-License-Identifier: MIT
// Honest: registers an operator of its own with torch's dispatcher, and calls it by that way.
#include <torch/extension.h>
#include <torch/library.h>

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

static torch::Tensor run(const torch::Tensor& scores) {
  auto y = torch::empty_like(scores);
  softmax<<<scores.size(0), 32>>>(scores.data_ptr<float>(), y.data_ptr<float>(), scores.size(1));
  return y;
}

TORCH_LIBRARY(kbench_twin, library) { library.def("softmax(Tensor scores) -> Tensor", run); }

torch::Tensor forward(torch::Tensor scores) {
  static auto op = c10::Dispatcher::singleton().findSchemaOrThrow("kbench_twin::softmax", "");
  return op.typed<torch::Tensor(const torch::Tensor&)>().call(scores);
}
