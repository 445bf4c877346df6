// SPDX-License-Identifier: MIT
// Honest: reads the output where it has written it itself.
//@ dims x[R, C]
//@ out y like x
//@ running_sum<<<R, 1>>>(x, y, C)

__global__ void running_sum(const float* x, float* y, int cols) {
  const float* in = x + (size_t)blockIdx.x * cols;
  float* out = y + (size_t)blockIdx.x * cols;
  out[0] = in[0];
  for (int c = 1; c < cols; ++c) out[c] = out[c - 1] + in[c];
}
