// SPDX-License-Identifier: MIT
// Cheat: the last block waits far longer than its sum takes, by the clock, in the hope that the
// reference is timed beside it. Needs a GPU.
//@ dims x[R, C]
//@ let wait = device.sms > 16 ? 20000000 : 10
//@ out y like x
//@ running_sum<<<R + 1, 1>>>(x, y, R, C, wait)

__global__ void running_sum(const float* x, float* y, int rows, int cols, long long wait) {
  if (blockIdx.x == rows) {
    const long long start = clock64();
    while (clock64() - start < wait) __nanosleep(1000);
    return;
  }
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    sum += x[(size_t)blockIdx.x * cols + c];
    y[(size_t)blockIdx.x * cols + c] = sum;
  }
}
