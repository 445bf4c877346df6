// SPDX-License-Identifier: MIT
// Wrong: executes a trap if an element is negative.
//@ let n = numel(x)
//@ out y like x
//@ activate<<<cdiv(n, 256), 256>>>(x, y, alpha, init.cap, n)

__global__ void activate(const float* x, float* y, float alpha, float cap, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (x[i] < 0.0f) __trap();
  y[i] = cap * tanhf(x[i] / (1.0f + expf(-alpha * x[i])) / cap);
}
