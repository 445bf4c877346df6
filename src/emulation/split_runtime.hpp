// SPDX-License-Identifier: MIT
//
// Declarations for the parts of the runtime that are linked into all host code.
#pragma once

#include "kbench_split.hpp"

namespace kbench_split {

/// The table that kbench_split_start() got; null before that.
KBENCH_HIDDEN const Runtime* current_runtime();

/// The last error on this thread of a launch or of an emulated function, for cudaGetLastError.
KBENCH_HIDDEN int take_error();
KBENCH_HIDDEN int peek_error();
KBENCH_HIDDEN void set_error(int error);

/// The last error of CUDA's own runtime; `take` clears it. On the CPU it is always cudaSuccess.
#if KBENCH_HOST_CPU
KBENCH_HIDDEN int other_last_error(bool take);
#else
__attribute__((visibility("default"))) int other_last_error(bool take);
#endif

}  // namespace kbench_split
