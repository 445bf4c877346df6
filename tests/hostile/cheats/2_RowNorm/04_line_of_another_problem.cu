// SPDX-License-Identifier: MIT
//@ problem none_of_yours
// Cheat: a wrong kernel's line names a problem that is not asked for, so that this sample would
// leave the run's plan, and the denominators with it.
//@ dims x[R, C]
//@ out norms: float32[R, 1]
//@ row_norm<<<cdiv(R, 64), 64>>>(x, norms, R, C)

__global__ void row_norm(const float* x, float* norms, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) norms[row] = x[(size_t)row * cols];
}
