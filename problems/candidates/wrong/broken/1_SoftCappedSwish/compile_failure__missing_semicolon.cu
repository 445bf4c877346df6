// SPDX-License-Identifier: MIT
// Wrong: a semicolon is missing, so this is no C++.
//@ out y like x
//@ activate<<<cdiv(numel(x), 256), 256>>>(x, y, alpha, init.cap, numel(x))

__global__ void activate(const float* x, float* y, float alpha, float cap, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x
  if (i < n) y[i] = cap * tanhf(x[i] / (1.0f + expf(-alpha * x[i])) / cap);
}
