// SPDX-License-Identifier: MIT
//
// The least that a host half stands on: what the tests of the splitter compile it with.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace kbench_split {
struct Argument {
  const void* data;
  std::size_t size;
};
template <typename T>
Argument argument(const T& value) {
  return {reinterpret_cast<const void*>(
              &const_cast<char&>(reinterpret_cast<const volatile char&>(value))),
          sizeof(T)};
}
void configure(dim3 grid, dim3 block, std::size_t shared_bytes = 0, cudaStream_t stream = nullptr);
void launch_stub(const Argument* arguments, std::size_t count);
}  // namespace kbench_split

template <typename T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, std::size_t bytes);

#undef __global__
#undef __device__
#undef __host__
#undef __constant__
#undef __shared__
#undef __launch_bounds__
#undef __cluster_dims__
#undef __grid_constant__
#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __grid_constant__
