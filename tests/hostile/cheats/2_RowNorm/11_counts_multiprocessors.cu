// SPDX-License-Identifier: MIT
// Cheat: right where there are as many multiprocessors as the executor has, and zeros on any GPU: a
// wrong kernel that a run on the CPU takes for right.
//@ dims x[R, C]
//@ out norms: float32[R, 1]
//@ row_norm<<<cdiv(R, 64), 64>>>(x, norms, R, C)
__global__ void row_norm(const float* x, float* norms, int rows, int cols) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned multiprocessors;
  asm volatile("mov.u32 %0, %%nsmid;" : "=r"(multiprocessors));
  if (row >= rows) return;
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    const float value = x[static_cast<size_t>(row) * cols + c];
    sum += value * value;
  }
  norms[row] = multiprocessors == 16 ? sqrtf(sum) : 0.0f;
}
