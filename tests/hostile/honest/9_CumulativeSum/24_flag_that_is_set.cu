// SPDX-License-Identifier: MIT
// Threads wait for flags too, and the thread before sets them, with fences: it ends.
//@ dims x[N, C]
//@ tmp flags: int32[N] = 0
//@ out y like x
//@ scan<<<N, 64>>>(x, y, flags, C)

__global__ void scan(const float* x, float* y, int* flags, int cols) {
  const long long base = (long long)blockIdx.x * cols;
  const int half = cols / 2;
  if (threadIdx.x == 0) {
    float sum = 0.0f;
    for (int c = 0; c < half; ++c) y[base + c] = sum += x[base + c];
    __threadfence();
    atomicExch(flags + blockIdx.x, 1);
  } else if (threadIdx.x == 32) {
    while (atomicAdd(flags + blockIdx.x, 0) == 0) {
    }
    __threadfence();
    float sum = half > 0 ? __ldcg(y + base + half - 1) : 0.0f;
    for (int c = half; c < cols; ++c) y[base + c] = sum += x[base + c];
  }
}
