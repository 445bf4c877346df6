// SPDX-License-Identifier: MIT
// The words at::softmax(scores, -1), torch.softmax and cublasSgemm stand in this comment and in a
// text.
#include <torch/extension.h>

__device__ float block_max(float value) {
  __shared__ float values[256];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      values[threadIdx.x] = fmaxf(values[threadIdx.x], values[threadIdx.x + half]);
    }
    __syncthreads();
  }
  const float most = values[0];
  __syncthreads();
  return most;
}

__device__ float block_sum(float value) {
  __shared__ float values[256];
  values[threadIdx.x] = value;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  const float sum = values[0];
  __syncthreads();
  return sum;
}

__global__ void softmax(const float* x, float* y, int cols) {
  const float* in = x + (long long)blockIdx.x * cols;
  float* out = y + (long long)blockIdx.x * cols;
  float most = -3.4e38f, sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 256) most = fmaxf(most, in[c]);
  most = block_max(most);
  for (int c = threadIdx.x; c < cols; c += 256) sum += expf(in[c] - most);
  sum = block_sum(sum);
  for (int c = threadIdx.x; c < cols; c += 256) out[c] = expf(in[c] - most) / sum;
}

torch::Tensor forward(torch::Tensor scores) {
  TORCH_CHECK(scores.is_contiguous(), "use at::softmax or torch.softmax for such a layout");
  auto y = torch::empty_like(scores);  // not: return at::softmax(scores, -1);
  softmax<<<scores.size(0), 256>>>(scores.data_ptr<float>(), y.data_ptr<float>(), scores.size(1));
  return y;
}
