// SPDX-License-Identifier: MIT
// Honest: prefetches the part of its own row that comes next.
//@ dims x[R, C]
//@ out y like x
//@ running_sum<<<R, 1>>>(x, y, C)

__global__ void running_sum(const float* x, float* y, int cols) {
  const float* row = x + (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    if (c % 32 == 0 && c + 64 < cols)
      asm volatile("prefetch.global.L2::evict_normal [%0];" ::"l"(row + c + 64));
    sum += row[c];
    y[(size_t)blockIdx.x * cols + c] = sum;
  }
}
