// SPDX-License-Identifier: MIT
// Honest: the second launch computes where it finds what the first one wrote, which is everywhere.
//@ let n = numel(x)
//@ out y like x
//@ mark<<<cdiv(n, 256), 256>>>(y, n)
//@ swish<<<cdiv(n, 256), 256>>>(x, y, alpha, init.cap, n)

__global__ void mark(float* y, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) y[i] = nanf("");
}

__global__ void swish(const float* x, float* y, float alpha, float cap, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n && isnan(y[i])) y[i] = cap * tanhf(x[i] / (1.0f + expf(-alpha * x[i])) / cap);
}
