// SPDX-License-Identifier: MIT
// Cheat: the first launch fills a table in `__device__` memory; later ones copy from it and read
// nothing of their input.
//@ dims x[R, C]
//@ out y like x
//@ running_sum<<<R, 1>>>(x, y, C)

__device__ float table[1 << 24];
__device__ bool filled[1 << 16];

__global__ void running_sum(const float* x, float* y, int cols) {
  const size_t row = (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  if (!filled[blockIdx.x]) {
    for (int c = 0; c < cols; ++c) table[row + c] = sum += x[row + c];
  }
  filled[blockIdx.x] = true;
  for (int c = 0; c < cols; ++c) y[row + c] = table[row + c];
}
