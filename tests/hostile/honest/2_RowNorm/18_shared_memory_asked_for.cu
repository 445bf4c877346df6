// SPDX-License-Identifier: MIT
// Much shared memory too, but as much as there is, asked for, and with the launch error looked at.
#include <torch/extension.h>

__global__ void row_norm(const float* x, float* y, int cols) {
  extern __shared__ float row[];
  const float* in = x + (long long)blockIdx.x * cols;
  for (int c = threadIdx.x; c < cols; c += 256) row[c] = in[c] * in[c];
  __syncthreads();
  if (threadIdx.x >= 32) return;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += row[c];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) y[blockIdx.x] = sqrtf(sum);
}

torch::Tensor forward(torch::Tensor x) {
  const int rows = x.size(0), cols = x.size(1);
  auto y = torch::empty({rows, 1}, x.options());
  const int bytes = 4 * cols;
  TORCH_CHECK(cudaFuncSetAttribute(row_norm, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) ==
                  cudaSuccess, "a row does not fit in shared memory");
  row_norm<<<rows, 256, bytes>>>(x.data_ptr<float>(), y.data_ptr<float>(), cols);
  const cudaError_t error = cudaGetLastError();
  TORCH_CHECK(error == cudaSuccess, cudaGetErrorString(error));
  return y;
}
