// SPDX-License-Identifier: MIT
// Asks which headers there are, and gets along with any answer.
//@ let n = numel(x)
//@ out y like x
//@ swish<<<cdiv(n, 256), 256>>>(x, y, alpha, init.cap, n)
#if __has_include(<cuda_fp16.h>)
#include <cuda_fp16.h>
#endif
#if __has_include(<no_such_header.h>)
#include <no_such_header.h>
#endif

__global__ void swish(const float* x, float* y, float alpha, float cap, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) y[i] = cap * tanhf(x[i] / (1.0f + expf(-alpha * x[i])) / cap);
}
