// SPDX-License-Identifier: MIT
//@ problem level1/2_RowNorm
// Honest: the line names the problem that the folder names.
//@ dims x[R, C]
//@ out norms: float32[R, 1]
//@ row_norm<<<cdiv(R, 64), 64>>>(x, norms, R, C)

__global__ void row_norm(const float* x, float* norms, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    const float v = x[(size_t)row * cols + c];
    sum += v * v;
  }
  norms[row] = sqrtf(sum);
}
