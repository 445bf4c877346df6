// SPDX-License-Identifier: MIT
// One block waits for a flag that nobody sets: the kernel has to be killed.
//@ dims x[N, C]
//@ tmp flag: int32[1] = 0
//@ out y like x
//@ scan<<<N, 1>>>(x, y, flag, C)

__global__ void scan(const float* x, float* y, volatile int* flag, int cols) {
  const long long base = (long long)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) y[base + c] = sum += x[base + c];
  if (blockIdx.x == 0) {
    while (*flag == 0) {
    }
  }
}
