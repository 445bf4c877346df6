// SPDX-License-Identifier: MIT
// Wrong: keeps the exponentials in the input, as if it were scratch.
//@ dims scores[R, C]
//@ out y like scores
//@ softmax<<<R, 32>>>(scores, y, C)

__global__ void softmax(const float* scores, float* y, int cols) {
  float* row = const_cast<float*>(scores) + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += 32) {
    row[c] = expf(row[c]);
    sum += row[c];
  }
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  for (int c = threadIdx.x; c < cols; c += 32) y[(size_t)blockIdx.x * cols + c] = row[c] / sum;
}
