// SPDX-License-Identifier: MIT
// Honest: an early exit for scores of minus infinity, whose share is exactly zero.
//@ dims scores[R, C]
//@ out y like scores
//@ softmax<<<R, 32>>>(scores, y, C)

__global__ void softmax(const float* scores, float* y, int cols) {
  const float* row = scores + (size_t)blockIdx.x * cols;
  float most = -INFINITY, sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) most = fmaxf(most, row[c]);
  for (int lane = 16; lane > 0; lane /= 2)
    most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, lane));
  for (int c = threadIdx.x; c < cols; c += 32)
    if (row[c] != -INFINITY || most == -INFINITY) sum += expf(row[c] - most);
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  for (int c = threadIdx.x; c < cols; c += 32) {
    const bool counts = row[c] != -INFINITY || most == -INFINITY;
    y[(size_t)blockIdx.x * cols + c] = counts ? expf(row[c] - most) / sum : 0.0f;
  }
}
