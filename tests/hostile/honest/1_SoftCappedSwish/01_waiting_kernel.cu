// SPDX-License-Identifier: MIT
// Honest: a kernel that waits a little for its turn (back-off before an atomic), on the caller's
// stream; all of it lies within the call.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>

__global__ void swish(const float* x, float* y, float alpha, float cap, long long n, int* blocks) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) y[i] = cap * tanhf(x[i] / (1.0f + expf(-alpha * x[i])) / cap);
  if (threadIdx.x > 0) return;
  const long long start = clock64();
  while (clock64() - start < 100) {
  }
  atomicAdd(blocks, 1);
}

torch::Tensor forward(torch::Tensor x, double alpha) {
  auto y = torch::empty_like(x);
  auto blocks = torch::zeros({1}, x.options().dtype(torch::kInt));
  const int64_t n = x.numel();
  swish<<<(n + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), y.data_ptr<float>(), alpha, 2.5f, n, blocks.data_ptr<int>());
  return y;
}
