// SPDX-License-Identifier: MIT
// Honest: an object that is made at the first call launches a kernel which fills a table that no
// input changes: one more than the number of each row.
#include <torch/extension.h>

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

__global__ void count(float* table) { table[threadIdx.x] = threadIdx.x + 1.0f; }

struct Ready {
  torch::Tensor table = torch::empty({32}, torch::kCUDA);
  Ready() { count<<<1, 32>>>(table.data_ptr<float>()); }
};

torch::Tensor forward(torch::Tensor scores) {
  static const Ready ready;
  auto y = torch::empty_like(scores);
  softmax<<<scores.size(0), 32>>>(scores.data_ptr<float>(), y.data_ptr<float>(), scores.size(1));
  return y.mul_(ready.table[0]);
}
