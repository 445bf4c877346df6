// SPDX-License-Identifier: MIT
// Cheat: a kernel on a stream of its own spins for some milliseconds, until after the clock has
// stopped, and computes then; nobody waits for it. Needs a GPU to show.
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void late_swish(const float* x, float* y, float alpha, float cap, long long n) {
  if (threadIdx.x == 0) {
    const long long start = clock64();
    while (clock64() - start < 4000000) {
    }
  }
  __syncthreads();
  for (long long i = blockIdx.x * 256LL + threadIdx.x; i < n; i += gridDim.x * 256LL)
    y[i] = cap * tanhf(x[i] / (1.0f + expf(-alpha * x[i])) / cap);
}

torch::Tensor forward(torch::Tensor x, double alpha) {
  static cudaStream_t aside = nullptr;
  if (aside == nullptr) cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking);
  auto y = torch::empty_like(x);
  late_swish<<<2, 256, 0, aside>>>(x.data_ptr<float>(), y.data_ptr<float>(), alpha, 2.5f,
                                    x.numel());
  return y;
}
