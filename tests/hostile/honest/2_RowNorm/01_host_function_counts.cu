// SPDX-License-Identifier: MIT
// Honest: a host function on torch's stream counts what is done, behind the kernel.
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>
#include <torch/extension.h>

#include <atomic>

__global__ void row_norm(const float* x, float* y, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += row[c] * row[c];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) y[blockIdx.x] = sqrtf(sum);
}

static std::atomic<long> calls{0};

static void count(void*) { ++calls; }

torch::Tensor forward(torch::Tensor x) {
  cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  auto y = torch::empty({x.size(0), 1}, x.options());
  row_norm<<<x.size(0), 32, 0, stream>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  cudaLaunchHostFunc(stream, count, nullptr);
  return y;
}
