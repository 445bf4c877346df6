// SPDX-License-Identifier: MIT
// Honest: a table in `__device__` memory that the first launch fills with what no input changes:
// the bounds of the parts in which rows are summed.
//@ dims x[R, C]
//@ out y like x
//@ fill<<<1, 33>>>(C)
//@ running_sum<<<R, 32>>>(x, y, C)

__device__ int bounds[33];

__global__ void fill(int cols) { bounds[threadIdx.x] = (long long)cols * threadIdx.x / 32; }

__global__ void running_sum(const float* x, float* y, int cols) {
  const size_t row = (size_t)blockIdx.x * cols;
  const int begin = bounds[threadIdx.x], end = bounds[threadIdx.x + 1];
  float part = 0.0f;
  for (int c = begin; c < end; ++c) part += x[row + c];
  float before = 0.0f;
  for (int lane = 0; lane < 32; ++lane) {
    const float other = __shfl_sync(0xffffffffu, part, lane);
    if (lane < threadIdx.x) before += other;
  }
  for (int c = begin; c < end; ++c) y[row + c] = before += x[row + c];
}
