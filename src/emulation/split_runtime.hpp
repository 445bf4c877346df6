// SPDX-License-Identifier: MIT
//
// What the parts of the runtime share that are linked into every host half.
#pragma once

#include "kbench_split.hpp"

namespace kbench_split {

/// Null until the process that loaded the host half has given it.
KBENCH_HIDDEN const Runtime* current_runtime();

/// The last error of a launch or of a counterpart on this thread, as cudaGetLastError has it.
KBENCH_HIDDEN int take_error();
KBENCH_HIDDEN int peek_error();
KBENCH_HIDDEN void set_error(int error);

/// The last error of CUDA's own runtime, cleared where `take` says so; none on the CPU.
#if KBENCH_HOST_CPU
KBENCH_HIDDEN int other_last_error(bool take);
#else
__attribute__((visibility("default"))) int other_last_error(bool take);
#endif

}  // namespace kbench_split
