// SPDX-License-Identifier: MIT
// kernels: k<float, 4>; k<double, 2>; k<float, 8>; k<float, 9>; a; b; ns::c<true>; other
#include <cuda_runtime.h>
#include <iostream>
template <typename T, int N> __global__ void k(T* x, int n) {
  extern __shared__ __align__(16) unsigned char raw[];
  T* s = reinterpret_cast<T*>(raw);
  s[threadIdx.x] = x[0];
  x[0] = s[0] + N + n;
}
__global__ void a(float* x) { x[0] = 1; }
static __global__ void b(float* x) { x[0] = 2; }
namespace ns { namespace { template <bool kB> __global__ void c(float* x) { x[0] = kB; } } }
#if 0
this is { no code ' (
#else
__global__ void other(float*, int = 3);
#endif
struct Launcher {
  int n;
  void run(float* x) const {
    k<float, 9><<<n, 32, 128>>>(x, n);
    ::a<<<1, 1>>>(x);
    this->self()->go(x);
  }
  const Launcher* self() const { return this; }
  void go(float* x) const { ns::c<true><<<1, 1>>>(x); }
};
typedef void (*kernel_t)(float*);
template <typename K, typename... A> void launch(K kernel, dim3 g, dim3 b, A... args) {
  kernel<<<g, b>>>(args...);
}
void all(float* x, int n, cudaStream_t st) {
  auto kern = k<float, 4>;
  const void* known = (const void*)k<double, 2>;
  kern<<<dim3{1, 2, 3}, {32, 1}, 65536, st>>>(x, n);
  kernel_t table[] = {a, b};
  table[n]<<<1, 1>>>(x);
  (n > 3 ? a : b)<<<1, 1>>>(x);
  void (*pointer)(float*) = &a;
  (*pointer)<<<1, 1>>>(x);
  if (known) a<<<1, 1>>>(x); else b<<<1, 1>>>(x);
  for (int i = 0; i < n; ++i) a<<<1, 1>>>(x + i);
  ns::c<(4 > 3)><<<1, 1>>>(x);
  k<float, 1 << 3>
      << <
      dim3((n + 31) / 32,
           2),
      32 >> >
      (x, n);
  launch(a, 1, 1, x);
  auto generic = [&](auto tag) { k<float, decltype(tag)::value + 4><<<1, 4>>>(x, 4); };
  generic(std::integral_constant<int, 5>{});
  std::cout << "a<<<b" << n << 'x' << R"(raw <<< string
with lines "quote )" << std::endl;
  int shifted = n << 3 >> 1;
  [&]() { return a<<<1, 1, 0, st>>>(x); }();
  other<<<1, shifted>>>(x);
  Launcher{n}.run(x);
}
__global__ void other(float* x, int n) { x[0] = n; }
std::ostream& operator<<(std::ostream& out, const Launcher& l) { return out << "<<<" << (l.n << 2); }
