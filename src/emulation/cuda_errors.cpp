// SPDX-License-Identifier: MIT
//
// Part of the library that all host code links. In that library cudaGetLastError is CUDA's own.
#include <cuda_runtime_api.h>

namespace kbench_split {

__attribute__((visibility("default"))) int other_last_error(bool take) {
  return take ? cudaGetLastError() : cudaPeekAtLastError();
}

}  // namespace kbench_split
