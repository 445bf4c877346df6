// SPDX-License-Identifier: MIT
// Wrong: the number of blocks is rounded down, so the last elements are never written.
//@ let n = numel(x)
//@ out y like x
//@ activate<<<n / 256, 256>>>(x, y, alpha, init.cap)

__global__ void activate(const float* x, float* y, float alpha, float cap) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = cap * tanhf(x[i] / (1.0f + expf(-alpha * x[i])) / cap);
}
