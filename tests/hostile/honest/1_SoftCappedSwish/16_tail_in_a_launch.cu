// SPDX-License-Identifier: MIT
// Whole blocks in one launch without a test for the end, the tail in a launch of its own.
//@ let n = numel(x)
//@ let whole = n / 256
//@ out y like x
//@ if (whole > 0) { swish<<<whole, 256>>>(x, y, alpha, init.cap, 0) }
//@ if (n % 256 > 0) { swish<<<1, n % 256>>>(x, y, alpha, init.cap, whole * 256) }

__global__ void swish(const float* x, float* y, float alpha, float cap, long long first) {
  const long long i = first + blockIdx.x * 256LL + threadIdx.x;
  y[i] = cap * tanhf(x[i] / (1.0f + expf(-alpha * x[i])) / cap);
}
