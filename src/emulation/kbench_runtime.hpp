// SPDX-License-Identifier: MIT
//
// What a host half and the process that loads it say to each other. Plain types: included by
// candidates' host halves and by kbench-worker.
#pragma once

#include <cstddef>
#include <cstdint>

/// Of one host half alone: other libraries in the process have names of their own.
#define KBENCH_HIDDEN __attribute__((visibility("hidden")))

namespace kbench_split {

/// One argument of a launch: where its value lies, and how many bytes it has.
struct Argument {
  const void* data;
  std::size_t size;
};

/// The count of arguments that says: `arguments` is no array of Argument but CUDA's own `void**`,
/// one pointer for each parameter that the kernel has (cudaLaunchKernel is not told how many).
inline constexpr std::size_t kPointersOnly = ~std::size_t{0};

inline constexpr std::uint32_t kRuntimeVersion = 3;

/// The functions through which a host half reaches its device half. Its loader gives them to
/// `extern "C" void kbench_split_start(const Runtime*)`, which every host half exports, before
/// anything else of it runs; the table has to outlive it. All return a cudaError_t.
struct Runtime {
  std::uint32_t version;  ///< kRuntimeVersion
  void* context;          ///< passed to all
  /// `code_address` lies in the stub of the kernel: anywhere in it, or its first byte. `stream` is
  /// a cudaStream_t; a cluster of zeros is none.
  int (*launch)(void* context, const void* code_address, const unsigned grid[3],
                const unsigned block[3], std::size_t shared_bytes, void* stream,
                const Argument* arguments, std::size_t count, int cooperative,
                const unsigned cluster[3]);
  /// `stub` is the first byte of a stub; `attribute` a cudaFuncAttribute.
  int (*set_attribute)(void* context, const void* stub, int attribute, int value);
  /// Fills in a cudaFuncAttributes.
  int (*attributes)(void* context, const void* stub, void* cuda_func_attributes);
  int (*occupancy)(void* context, const void* stub, int* blocks, int block_size,
                   std::size_t shared_bytes);
  /// `shadow` is the first byte of a variable's shadow.
  int (*symbol_address)(void* context, const void* shadow, void** device_address,
                        std::size_t* size);
  // On the CPU only; null on a GPU, where CUDA's own runtime does it.
  int (*allocate)(void* context, void** pointer, std::size_t bytes);
  int (*release)(void* context, void* pointer);
  int (*synchronize)(void* context);
  /// Host code has looked at the error of a launch that was refused, and may try another one.
  void (*error_taken)(void* context);
  // On the CPU only: what CUDA's copies and fills do with memory that host code may not touch.
  void (*copy)(void* context, void* target, const void* source, std::size_t bytes);
  void (*fill)(void* context, void* target, int value, std::size_t bytes);
};

}  // namespace kbench_split
