// SPDX-License-Identifier: MIT
// Cheat: a stream of its own waits for a host function that sleeps, and then computes; forward
// returns at once, and events on torch's stream time nothing. Needs a GPU.
#include <cuda_runtime.h>
#include <torch/extension.h>
#include <unistd.h>

__global__ void row_norm(const float* x, float* y, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) sum += row[c] * row[c];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) y[blockIdx.x] = sqrtf(sum);
}

static void nap(void*) { usleep(500); }

torch::Tensor forward(torch::Tensor x) {
  static cudaStream_t side = nullptr;
  if (side == nullptr) cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
  auto y = torch::empty({x.size(0), 1}, x.options());
  cudaLaunchHostFunc(side, nap, nullptr);
  row_norm<<<x.size(0), 32, 0, side>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
  return y;
}
