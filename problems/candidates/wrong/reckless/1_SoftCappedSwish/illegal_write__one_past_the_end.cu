// SPDX-License-Identifier: MIT
// Wrong: `<=` instead of `<`, so one element is written past the output's end.
//@ let n = numel(x)
//@ out y like x
//@ activate<<<cdiv(n, 256), 256>>>(x, y, alpha, init.cap, n)

__global__ void activate(const float* x, float* y, float alpha, float cap, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[min(i, n - 1)];
  if (i <= n) y[i] = cap * tanhf(v / (1.0f + expf(-alpha * v)) / cap);
}
