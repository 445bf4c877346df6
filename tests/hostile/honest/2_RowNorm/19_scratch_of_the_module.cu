// SPDX-License-Identifier: MIT
// Honest: two kernels with partial sums in memory of the module, and an output that was filled
// before a kernel writes it.
#include <torch/extension.h>

constexpr int kParts = 8;
__device__ float partial[kParts << 13];

__global__ void add_squares(const float* x, int columns) {
  const float* row = x + (size_t)blockIdx.x * columns;
  float sum = 0.0f;
  for (int i = blockIdx.y * 32 + threadIdx.x; i < columns; i += 32 * kParts) sum += row[i] * row[i];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  if (threadIdx.x == 0) partial[blockIdx.x * kParts + blockIdx.y] = sum;
}
__global__ void row_norm(float* norms, int rows) {
  const int row = blockIdx.x * 128 + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < kParts; ++i) sum += partial[row * kParts + i];
  norms[row] = sqrtf(sum);
}

torch::Tensor forward(torch::Tensor x) {
  const int rows = x.size(0), columns = x.size(1);
  auto norms = torch::full({rows, 1}, -1.0f, x.options());
  add_squares<<<dim3(rows, kParts), 32>>>(x.data_ptr<float>(), columns);
  row_norm<<<(rows + 127) / 128, 128>>>(norms.data_ptr<float>(), rows);
  return norms;
}
