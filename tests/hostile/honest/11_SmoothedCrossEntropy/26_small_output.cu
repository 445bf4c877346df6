// SPDX-License-Identifier: MIT
// A single number comes out as well: of all rows, so the time follows the input.
#include <torch/extension.h>

__global__ void accumulate(const float* losses, float* y, int n) {
  float sum = 0.0f;
  for (int i = threadIdx.x; i < n; i += 32) sum += losses[i];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) *y = sum / n;
}

torch::Tensor forward(torch::Tensor logits, torch::Tensor targets) {
  const int64_t rows = logits.size(0);
  auto plain = torch::log_softmax(logits, 1);
  auto hit = plain.gather(1, targets.unsqueeze(1)).squeeze(1);
  auto losses = (-0.9 * hit - 0.1 * plain.mean(1)).contiguous();
  auto y = torch::empty({}, logits.options());
  accumulate<<<1, 32>>>(losses.data_ptr<float>(), y.data_ptr<float>(), rows);
  return y;
}
