// SPDX-License-Identifier: MIT
// Cheat: writes zeros, the mean of all sums, and reads nothing. Right only where a constant is.
//@ dims x[R, C]
//@ out y like x
//@ fill<<<cdiv(R * C, 256), 256>>>(y, R * C)

__global__ void fill(float* y, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) y[i] = 0.0f;
}
