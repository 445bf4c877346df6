// SPDX-License-Identifier: MIT
// Honest: asks the device for more once it runs, as long programs do: a stream of its own, scratch
// from the pool of memory in stream order, pinned memory of the host, events.
#include <cuda_runtime.h>
#include <torch/extension.h>

__global__ void square_sums(const float* x, float* sums, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += row[c] * row[c];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

__global__ void roots(const float* sums, const float* power, float* y, int rows) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) y[row] = powf(sums[row], *power);
}

torch::Tensor forward(torch::Tensor x) {
  const int rows = x.size(0);
  auto y = torch::empty({rows, 1}, x.options());
  float *sums = nullptr, *power = nullptr, *power_on_host = nullptr;
  cudaStream_t stream;
  cudaEvent_t ended;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&ended, cudaEventDisableTiming);
  cudaMallocHost((void**)&power_on_host, sizeof(float));
  *power_on_host = 0.5f;
  cudaDeviceSynchronize();
  cudaMallocAsync((void**)&sums, rows * sizeof(float), stream);
  cudaMallocAsync((void**)&power, sizeof(float), stream);
  cudaMemcpyAsync(power, power_on_host, sizeof(float), cudaMemcpyHostToDevice, stream);
  square_sums<<<rows, 32, 0, stream>>>(x.data_ptr<float>(), sums, x.size(1));
  roots<<<(rows + 255) / 256, 256, 0, stream>>>(sums, power, y.data_ptr<float>(), rows);
  cudaFreeAsync(sums, stream);
  cudaFreeAsync(power, stream);
  cudaEventRecord(ended, stream);
  cudaEventSynchronize(ended);
  cudaEventDestroy(ended);
  cudaStreamDestroy(stream);
  cudaFreeHost(power_on_host);
  return y;
}
