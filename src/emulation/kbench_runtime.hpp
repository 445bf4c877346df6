// SPDX-License-Identifier: MIT
//
// The interface between host code and the process that loads it. Both include this file, so it has
// only plain types.
#pragma once

#include <cstddef>
#include <cstdint>

/// Visible only in its own shared object, because other libraries in the process have the same
/// names.
#define KBENCH_HIDDEN __attribute__((visibility("hidden")))

namespace kbench_split {

/// One argument of a launch: the address of its value, and the size in bytes.
struct Argument {
  const void* data;
  std::size_t size;
};

/// A special count: `arguments` is CUDA's own `void**`, with one pointer for each parameter of the
/// kernel, not an array of Argument. cudaLaunchKernel does not get their number.
inline constexpr std::size_t kPointersOnly = ~std::size_t{0};

inline constexpr std::uint32_t kRuntimeVersion = 3;

/// The functions through which host code reaches its device code. All host code exports `extern "C"
/// void kbench_split_start(const Runtime*)`, and the loader passes the table to it before any other
/// code of the library runs. The table must outlive the host code. Functions with a result return a
/// cudaError_t.
struct Runtime {
  std::uint32_t version;  ///< kRuntimeVersion
  void* context;          ///< passed to all functions
  /// `code_address` is any address in the kernel's stub. `stream` is a cudaStream_t. A cluster of
  /// zeros means no cluster.
  int (*launch)(void* context, const void* code_address, const unsigned grid[3],
                const unsigned block[3], std::size_t shared_bytes, void* stream,
                const Argument* arguments, std::size_t count, int cooperative,
                const unsigned cluster[3]);
  /// `stub` is the first byte of a stub; `attribute` is a cudaFuncAttribute.
  int (*set_attribute)(void* context, const void* stub, int attribute, int value);
  /// Fills in a cudaFuncAttributes.
  int (*attributes)(void* context, const void* stub, void* cuda_func_attributes);
  int (*occupancy)(void* context, const void* stub, int* blocks, int block_size,
                   std::size_t shared_bytes);
  /// `shadow` is the first byte of the host variable that stands for a device variable.
  int (*symbol_address)(void* context, const void* shadow, void** device_address,
                        std::size_t* size);
  // Only on the CPU; null on a GPU, where CUDA's own runtime does this.
  int (*allocate)(void* context, void** pointer, std::size_t bytes);
  int (*release)(void* context, void* pointer);
  int (*synchronize)(void* context);
  /// Host code has read the error of a refused launch, and may try another launch.
  void (*error_taken)(void* context);
  // Only on the CPU: CUDA's copies and fills, for memory that host code may not access.
  void (*copy)(void* context, void* target, const void* source, std::size_t bytes);
  void (*fill)(void* context, void* target, int value, std::size_t bytes);
};

}  // namespace kbench_split
