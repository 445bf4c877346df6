// SPDX-License-Identifier: MIT
// Honest: notes the cycles that a block takes in `__device__` memory; nothing depends on them.
//@ out y like x
//@ swish<<<cdiv(numel(x), 256), 256>>>(x, y, alpha, init.cap, numel(x))

__device__ long long last;

__global__ void swish(const float* x, float* y, float alpha, float cap, long long n) {
  const long long start = clock64();
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) y[i] = cap * tanhf(x[i] / (1.0f + expf(-alpha * x[i])) / cap);
  if (i == 0) last = clock64() - start;
}
