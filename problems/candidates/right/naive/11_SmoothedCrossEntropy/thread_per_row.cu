// SPDX-License-Identifier: MIT
// Each thread computes the loss of one row in three passes; a single thread adds them up.
#include <math.h>

//@ dims logits[N, C]
//@ dims targets[N]
//@ tmp losses: float32[N]
//@ out loss: float32[]
//@ row_loss<<<cdiv(N, 32), 32>>>(logits, targets, losses, init.smoothing, N, C)
//@ mean<<<1, 1>>>(losses, loss, N)

__global__ void row_loss(const float* logits, const long long* targets, float* losses,
                         float smoothing, int rows, int classes) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* z = logits + (size_t)row * classes;
  float largest = -INFINITY;
  for (int c = 0; c < classes; ++c) largest = fmaxf(largest, z[c]);
  float exponentials = 0.0f;
  for (int c = 0; c < classes; ++c) exponentials += expf(z[c] - largest);
  float sum = 0.0f;
  for (int c = 0; c < classes; ++c) sum += z[c];
  float log_sum = largest + logf(exponentials);
  losses[row] = log_sum - (1.0f - smoothing) * z[targets[row]] - smoothing * sum / classes;
}

__global__ void mean(const float* losses, float* loss, int rows) {
  float sum = 0.0f;
  for (int row = 0; row < rows; ++row) sum += losses[row];
  *loss = sum / rows;
}
