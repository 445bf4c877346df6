// SPDX-License-Identifier: MIT
// Row maximum, row sum and quotient as three kernels; the first two with one thread for each row.
#include <math.h>

//@ dims scores[R, C]
//@ tmp maxima: float32[R]
//@ tmp sums: float32[R]
//@ out y like scores
//@ row_max<<<cdiv(R, 32), 32>>>(scores, maxima, R, C)
//@ row_sum<<<cdiv(R, 32), 32>>>(scores, maxima, sums, R, C)
//@ quotient<<<cdiv(R * C, 256), 256>>>(scores, maxima, sums, y, R * C, C)

__global__ void row_max(const float* scores, float* maxima, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float largest = -INFINITY;
  for (int c = 0; c < cols; ++c) largest = fmaxf(largest, scores[(size_t)row * cols + c]);
  maxima[row] = largest;
}

__global__ void row_sum(const float* scores, const float* maxima, float* sums, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) sum += expf(scores[(size_t)row * cols + c] - maxima[row]);
  sums[row] = sum;
}

__global__ void quotient(const float* scores, const float* maxima, const float* sums, float* y,
                         int n, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = expf(scores[i] - maxima[i / cols]) / sums[i / cols];
}
