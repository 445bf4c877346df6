// SPDX-License-Identifier: MIT
//
// What the splitter's texts stand on: `(configure(grid, block), k<T>(arguments…))` in the place of
// a launch, and launch_stub() in the body of k. Functions of CUDA's runtime that take a kernel or a
// device variable are defined in split_runtime.cpp, for stubs and shadows.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "kbench_runtime.hpp"

namespace kbench_split {

template <typename T>
Argument argument(const T& value) {
  // By force: clang does not make a const void* of a pointer to a __restrict__ pointer.
  return {(const void*)__builtin_addressof(value), sizeof(T)};
}

/// Keeps what stands between <<< and >>> for the stub that is called next on this thread.
KBENCH_HIDDEN void configure(dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                             cudaStream_t stream = nullptr);

/// Launches the kernel whose stub called this, with the configuration kept last.
KBENCH_HIDDEN void launch_stub(const Argument* arguments, std::size_t count);

}  // namespace kbench_split

extern "C" __attribute__((visibility("default"))) void kbench_split_start(
    const kbench_split::Runtime* runtime);

#include "kbench_cuda.hpp"
