// SPDX-License-Identifier: MIT
// Honest: CUDA's own copies and fills around own kernels, of which one works in place and one adds
// to a part of what was filled; memory of the module and of cudaMalloc between them.
#include <torch/extension.h>

__device__ int done;

__global__ void multiply(const float* a, const float* b, float* y, int m, int n, int k) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= m * n) return;
  float sum = 0.0f;
  for (int j = 0; j < k; ++j) sum = fmaf(a[i / n * k + j], b[j * n + i % n], sum);
  y[i] += sum;
  if (i == 0) done = 1;
}
__global__ void twice(float* a, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) a[i] *= 2.0f;
}
__global__ void halve(float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] *= 0.5f;
}

torch::Tensor forward(torch::Tensor a, torch::Tensor b) {
  const int m = a.size(0), k = a.size(1), n = b.size(1);
  float* copy = nullptr;
  TORCH_CHECK(cudaMalloc(&copy, a.nbytes()) == cudaSuccess);
  cudaMemcpy(copy, a.data_ptr<float>(), a.nbytes(), cudaMemcpyDeviceToDevice);
  twice<<<(m * k + 127) / 128, 128>>>(copy, m * k);
  auto y = torch::empty({m, n}, a.options());
  cudaMemset(y.data_ptr<float>(), 0, y.nbytes());
  multiply<<<(m * n + 127) / 128, 128>>>(copy, b.data_ptr<float>(), y.data_ptr<float>(), m, n, k);
  halve<<<(m * n + 127) / 128, 128>>>(y.data_ptr<float>(), m * n);
  int is_done = 0;
  cudaMemcpyFromSymbol(&is_done, done, sizeof is_done);
  TORCH_CHECK(is_done == 1, "nothing was multiplied");
  cudaFree(copy);
  return y;
}
