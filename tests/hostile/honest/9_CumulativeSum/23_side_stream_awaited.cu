// SPDX-License-Identifier: MIT
// Honest: a stream of its own reads the second half of the input ahead, and is waited for.
#include <torch/extension.h>

__global__ void running_sum(const float* x, float* y, int cols) {
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    sum += x[(size_t)blockIdx.x * cols + c];
    y[(size_t)blockIdx.x * cols + c] = sum;
  }
}

__global__ void touch(const float* x, long long n, float* sink) {
  float sum = 0.0f;
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < n; i += gridDim.x * 256LL) sum += x[i];
  if (sum == 12345.0f) *sink = sum;
}

torch::Tensor forward(torch::Tensor x) {
  static cudaStream_t side = nullptr;
  if (side == nullptr) cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
  auto y = torch::empty_like(x), sink = torch::zeros({1}, x.options());
  const long long half = x.numel() / 2;
  touch<<<8, 256, 0, side>>>(x.data_ptr<float>() + half, x.numel() - half, sink.data_ptr<float>());
  cudaStreamSynchronize(side);
  running_sum<<<x.size(0), 1>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
