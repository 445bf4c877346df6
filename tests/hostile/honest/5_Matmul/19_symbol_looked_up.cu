// SPDX-License-Identifier: MIT
// Honest: looks the BLAS of torch up to say which one there is, and multiplies itself.
#include <dlfcn.h>
#include <torch/extension.h>

__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[(size_t)row * k + i] * b[(size_t)i * n + col];
  c[(size_t)row * n + col] = sum;
}

static const bool has_blas = dlsym(dlopen("libtorch_cpu.so", RTLD_NOW | RTLD_NOLOAD), "sgemm_");

torch::Tensor forward(torch::Tensor a, torch::Tensor b) {
  const int m = a.size(0), k = a.size(1), n = b.size(1);
  auto c = torch::empty({m, n}, a.options());
  matmul<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(
      a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), m, n, k);
  return c;
}
