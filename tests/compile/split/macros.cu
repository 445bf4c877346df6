// SPDX-License-Identifier: MIT
// kernels: relu_kernel; square_kernel; third; numbered<1>; numbered<7>; add_k; mul_k; named_impl
#include <cuda_runtime.h>
#define DEVFN __device__ __forceinline__
#define KERNEL __global__ void
#define BOUNDS(n) __launch_bounds__(n)
#define DEFINE_UNARY(name, expr)                                       \
  DEVFN float name##_op(float x) { return (expr); }                    \
  __global__ void name##_kernel(const float* in, float* out, int n) {  \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                     \
    if (i < n) out[i] = name##_op(in[i]); /* one element */            \
  }                                                                    \
  void name(const float* x, float* y, int n) {                         \
    name##_kernel<<<(n + 255) / 256, 256>>>(x, y, n);                  \
  }
DEFINE_UNARY(relu, x > 0.f ? x : 0.f)
DEFINE_UNARY(square,
             x * x)
#define CUDA_KERNEL(name, ...) KERNEL BOUNDS(128) name(__VA_ARGS__)
CUDA_KERNEL(third, float* x, int n) { x[n] = 1; }
template <int N> KERNEL numbered(float* x) { x[0] = N; }
// Lists of macros that are given macros.
#define OPERATIONS(X) X(add, +) X(mul, *)
#define DECLARE(name, op) \
  __global__ void name##_k(const float* a, float* b) { b[threadIdx.x] op##= a[threadIdx.x]; }
OPERATIONS(DECLARE)
#define NAME(f) f##_impl
__global__ void NAME(named)(float* x) { x[0] = 3; }
#define CASE(N, ...) \
  case N: numbered<N><<<1, 32, 0, stream>>>(__VA_ARGS__); break
#define LAUNCH(K, G, B, ...)                 \
  do {                                       \
    K<<<(G), (B), 0, stream>>>(__VA_ARGS__); \
  } while (0)
#define WITH_STREAM(K) K<<<1, 32, 0, stream>>>
#define SHAPE(n) <<<((n) + 255) / 256, 256>>>
#define HELPER(T) static T helper_##T(T x) { return x; }
HELPER(int)
HELPER(float);
void all(float* x, int n, cudaStream_t stream) {
  switch (n) {
    CASE(1, x);
    default: break;
  }
  LAUNCH(third, dim3(1, 2), 128, x, helper_int(n));
  LAUNCH((numbered<7>), 1, 2, x);
  third SHAPE(n)(x, n);
  WITH_STREAM(mul_k)(x, x);
  NAME(named)<<<1, 1>>>(x);
  relu(x, x, n);
}
