// SPDX-License-Identifier: MIT
// Wrong: drops the reduced dimension, which the reference keeps.
//@ dims x[R, C]
//@ out norms: float32[R]
//@ row_norm<<<cdiv(R, 64), 64>>>(x, norms, R, C)

__global__ void row_norm(const float* x, float* norms, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) sum += x[(size_t)row * cols + c] * x[(size_t)row * cols + c];
  norms[row] = sqrtf(sum);
}
