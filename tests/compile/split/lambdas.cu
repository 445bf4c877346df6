// SPDX-License-Identifier: MIT
// kernels: for_each<kbench_lambda_0<4, float*, const float*, float, float> >; map<float, kbench_lambda_1<float, float> >; for_each<kbench_lambda_2<float*> >; map<float, kbench_lambda_3>; for_each<kbench_lambda_4<double, 4, double*, int> >
#include <cuda_runtime.h>
#include <cstdint>
template <typename F> __global__ void for_each(int64_t n, F f) {
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += blockDim.x) f(i);
}
template <typename T, typename F> __global__ void map(T* x, int n, F f) {
  if (threadIdx.x < n) x[threadIdx.x] = f(x[threadIdx.x], threadIdx.x);
}
__device__ float helper(float x) { return __expf(x); }
template <typename F> void parallel_for(int64_t n, F f) { for_each<<<(n + 255) / 256, 256>>>(n, f); }
static constexpr float kGlobal = 2.f;
void go(const float* in, float* out, int64_t n, double alpha) {
  const float a = static_cast<float>(alpha), b = 1.f;
  constexpr int kVec = 4;
  parallel_for(n, [=] __device__ (int64_t i) {
#pragma unroll
    for (int j = 0; j < kVec; ++j) out[i] = helper(in[i] * a + b) * kGlobal;  // a comment }
  });
  map<<<1, 32>>>(out, 3, [a, c = a * 2] __host__ __device__ (float v, int i) -> float {
    return v * a + c + i;
  });
  for_each<<<1, 1>>>(3, [out] __device__ (auto i) { out[i] = 0; });
  auto f = [] __device__ (float v, int) { return v; };
  map<<<1, 1>>>(out, 1, f);
}
template <typename T, int N> void in_template(T* p, int n) {
  parallel_for(n, [=] __device__ (int64_t i) { T t = p[i]; p[i] = t * n + T(N); });
}
void instances(double* p) { in_template<double, 4>(p, 2); }
