// SPDX-License-Identifier: MIT
// Wrong: cuts off at the cap instead of approaching it softly.
//@ let n = numel(x)
//@ out y like x
//@ activate<<<cdiv(n, 256), 256>>>(x, y, alpha, init.cap, n)

__global__ void activate(const float* x, float* y, float alpha, float cap, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fminf(cap, fmaxf(-cap, x[i] / (1.0f + expf(-alpha * x[i]))));
}
