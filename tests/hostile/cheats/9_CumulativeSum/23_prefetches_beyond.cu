// SPDX-License-Identifier: MIT
// Cheat: after its sums a block prefetches what lies behind its input into the L2: the input of the
// next call, perhaps. Prefetches fault nowhere. Needs a GPU.
//@ dims x[R, C]
//@ out y like x
//@ running_sum<<<R, 1>>>(x, y, C)

__global__ void running_sum(const float* x, float* y, int cols) {
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    sum += x[(size_t)blockIdx.x * cols + c];
    y[(size_t)blockIdx.x * cols + c] = sum;
  }
  const float* behind = x + (size_t)(gridDim.x + blockIdx.x) * cols;
  for (int c = 0; c < cols; c += 32)
    asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(behind + c));
}
