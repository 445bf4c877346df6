// SPDX-License-Identifier: MIT
//
// Declarations that nvcc provides in its host pass and a C++ compiler lacks: overloads of runtime
// functions that take kernels and device variables by type, and device names in functions for both
// host and device.
#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <type_traits>

// --- Kernels and device variables by their type ----------------------------------------------

template <typename T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* source, std::size_t count,
                               std::size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cudaMemcpyToSymbol(static_cast<const void*>(std::addressof(symbol)), source, count, offset,
                            kind);
}

template <typename T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* source, std::size_t count,
                                    std::size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice,
                                    cudaStream_t stream = nullptr) {
  return cudaMemcpyToSymbolAsync(static_cast<const void*>(std::addressof(symbol)), source, count,
                                 offset, kind, stream);
}

template <typename T>
cudaError_t cudaMemcpyFromSymbol(void* target, const T& symbol, std::size_t count,
                                 std::size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cudaMemcpyFromSymbol(target, static_cast<const void*>(std::addressof(symbol)), count,
                              offset, kind);
}

template <typename T>
cudaError_t cudaMemcpyFromSymbolAsync(void* target, const T& symbol, std::size_t count,
                                      std::size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost,
                                      cudaStream_t stream = nullptr) {
  return cudaMemcpyFromSymbolAsync(target, static_cast<const void*>(std::addressof(symbol)), count,
                                   offset, kind, stream);
}

template <typename T>
cudaError_t cudaGetSymbolAddress(void** address, const T& symbol) {
  return cudaGetSymbolAddress(address, static_cast<const void*>(std::addressof(symbol)));
}

template <typename T>
cudaError_t cudaGetSymbolSize(std::size_t* size, const T& symbol) {
  return cudaGetSymbolSize(size, static_cast<const void*>(std::addressof(symbol)));
}

template <typename F>
cudaError_t cudaFuncSetAttribute(F* kernel, cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}

template <typename F>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, F* kernel) {
  return cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel));
}

template <typename F>
cudaError_t cudaFuncSetCacheConfig(F* kernel, cudaFuncCache config) {
  return cudaFuncSetCacheConfig(reinterpret_cast<const void*>(kernel), config);
}

// --- Torch's names ---------------------------------------------------------------------------

// The same declaration as in torch's headers, where only nvcc sees it.
#if __has_include(<torch/headeronly/core/TensorAccessor.h>)
namespace torch::headeronly {
template <typename T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};
}  // namespace torch::headeronly
namespace at {
using torch::headeronly::RestrictPtrTraits;
}
#else
namespace at {
template <typename T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};
}  // namespace at
#endif
namespace torch {
using at::RestrictPtrTraits;
}

// --- Device names ----------------------------------------------------------------------------

inline const uint3 threadIdx{0, 0, 0}, blockIdx{0, 0, 0};
inline const dim3 blockDim, gridDim;
inline const int warpSize = 32;

inline void __syncthreads() {}
inline void __syncwarp(unsigned = ~0u) {}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __trap() { std::abort(); }

template <typename T>
T __ldg(const T* address) {
  return *address;
}

// The C library declares __expf, __logf and the like; device_names.cpp defines them.
inline float __fdividef(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fsqrt_rn(float x) { return std::sqrt(x); }
inline float __frsqrt_rn(float x) { return 1.0f / std::sqrt(x); }
inline float __fmaf_rn(float x, float y, float z) { return std::fma(x, y, z); }
inline float __saturatef(float x) { return x < 0 ? 0.0f : x > 1 ? 1.0f : x; }

inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float rsqrt(float x) { return rsqrtf(x); }
inline float fdividef(float x, float y) { return x / y; }

// As in CUDA, min and max of two numbers work without std:: and with different types. Integers
// follow the usual conversions: the wider or the unsigned type wins.
template <typename A, typename B>
constexpr std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>,
                           std::common_type_t<A, B>>
min(A a, B b) {
  using T = std::common_type_t<A, B>;
  return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
}

template <typename A, typename B>
constexpr std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>,
                           std::common_type_t<A, B>>
max(A a, B b) {
  using T = std::common_type_t<A, B>;
  return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
}

// Namespaces of device libraries, which using directives may name. Their headers are empty here.
namespace cooperative_groups {}
namespace nvcuda::wmma {}
namespace cub {}
