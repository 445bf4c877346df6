// SPDX-License-Identifier: MIT
// Only whole blocks are launched; what is left over keeps the value of the last call.
//@ let n = numel(x)
//@ out y like x
//@ swish<<<n / 256, 256>>>(x, y, alpha, init.cap, n)

__global__ void swish(const float* x, float* y, float alpha, float cap, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) y[i] = cap * tanhf(x[i] / (1.0f + expf(-alpha * x[i])) / cap);
}
