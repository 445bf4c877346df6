// SPDX-License-Identifier: MIT
// kernels: plain_c; attributed<3>; clustered
#pragma once
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#ifndef BLOCK
#define BLOCK 128
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define HAS_ASYNC 1
#else
#define HAS_ASYNC 0
#endif
#if __CUDA_ARCH__ >= 700 || !defined(__CUDA_ARCH__)
__device__ __inline__ float ld(const float* p) { return __ldg(p); }
#else
__device__ __inline__ float ld(const float* p) { return *p; }
#endif
#ifdef __CUDACC__
#define HD __host__ __device__
#else
#define HD
#endif
HD inline int two() { return 2; }
struct S {
  int n;
  HD S(int m) : n(m) {}
  HD int of() const { return n; }
};
extern "C" {
__global__ void plain_c(float* x, S s) {
  x[0] = ld(x) + two() + s.of();
#if HAS_ASYNC
  asm("// { async");
#endif
}
void launch_c(float* x, cudaStream_t s) { plain_c<<<two(), BLOCK, 0, s>>>(x, S(3)); }
}
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128, 1) clustered(float* x) {
  cg::cluster_group c = cg::this_cluster();
  c.sync();
  x[c.block_rank()] = 1;
}
template <int N> [[maybe_unused]] static __global__ void attributed(float* x) { x[0] = N; }
const char* names[] = {"a", "b"};
static std::unordered_map<int, std::string> cache;
static int device_count() { int n = 0; cudaGetDeviceCount(&n); return n; }
static const int kCount = device_count();
inline void check(cudaError_t e, const char* file, int line) {
  if (e != cudaSuccess) throw std::runtime_error(cudaGetErrorString(e));
}
#define CHECK(x) check((x), __FILE__, __LINE__)
int operator""_kb(unsigned long long n) { return int(n) * 1024; }
const dim3 kBlock(16, 16);
void more(float* x) {
  CHECK(cudaDeviceSynchronize());
  char q = '"', r = '\'';
  long big = 1'000'000 + q + r + kCount;
  attributed<3><<<1, kBlock, 48_kb>>>(x);
  clustered<<<2, 128>>>(x + big);
}
