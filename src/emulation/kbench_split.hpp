// SPDX-License-Identifier: MIT
//
// Functions that host code from the source splitter calls. A launch becomes `(configure(grid,
// block), k<T>(arguments…))`, and the stub k calls launch_stub(). split_runtime.cpp also defines
// the functions of CUDA's runtime that take a kernel or a device variable, because host code has
// only stubs and host variables for these.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "kbench_runtime.hpp"

namespace kbench_split {

template <typename T>
Argument argument(const T& value) {
  // A C cast, because clang does not convert a pointer to a __restrict__ pointer to const void*.
  return {(const void*)__builtin_addressof(value), sizeof(T)};
}

/// Keeps the configuration of a launch for the stub that this thread calls next.
KBENCH_HIDDEN void configure(dim3 grid, dim3 block, std::size_t shared_bytes = 0,
                             cudaStream_t stream = nullptr);

/// Launches the kernel whose stub called this, with the last kept configuration.
KBENCH_HIDDEN void launch_stub(const Argument* arguments, std::size_t count);

}  // namespace kbench_split

extern "C" __attribute__((visibility("default"))) void kbench_split_start(
    const kbench_split::Runtime* runtime);

#include "kbench_cuda.hpp"
