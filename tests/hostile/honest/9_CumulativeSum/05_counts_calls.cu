// SPDX-License-Identifier: MIT
// Honest: counts its calls in a `__device__` variable as well, and writes the output in each.
//@ dims x[R, C]
//@ out y like x
//@ running_sum<<<R, 1>>>(x, y, C)

__device__ int calls[1 << 16];

__global__ void running_sum(const float* x, float* y, int cols) {
  calls[blockIdx.x]++;
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    sum += x[(size_t)blockIdx.x * cols + c];
    y[(size_t)blockIdx.x * cols + c] = sum;
  }
}
