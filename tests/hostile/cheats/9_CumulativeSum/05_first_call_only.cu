// SPDX-License-Identifier: MIT
// Cheat: writes the output in the first call and never again, and relies on the buffer still
// holding that result.
//@ dims x[R, C]
//@ out y like x
//@ running_sum<<<R, 1>>>(x, y, C)

__device__ int calls[1 << 16];

__global__ void running_sum(const float* x, float* y, int cols) {
  if (calls[blockIdx.x]++ > 0) return;
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    sum += x[(size_t)blockIdx.x * cols + c];
    y[(size_t)blockIdx.x * cols + c] = sum;
  }
}
