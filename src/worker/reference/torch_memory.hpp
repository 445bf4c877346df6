// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "kbench/ptx.hpp"

/// Host memory of torch that the executor's checks know, for a candidate's process: each tensor on
/// the CPU lies between red zones, and is undefined when it is made (fill_new_memory()) and again
/// when it is freed (0xFF).
namespace kbench::worker {

/// Makes all further allocations of torch on the CPU known, for the rest of this process. What was
/// allocated before stays as it is, and is not known.
void watch_torch_memory();

/// What kernels may touch now: a region for each live allocation, "torch tensor of 400 bytes".
std::vector<ptx::Region> torch_regions();

/// Allocations whose red zones something has written into, by the bytes that they hold: those that
/// live, and those that were freed since the last call.
std::vector<std::size_t> broken_torch_allocations();

}  // namespace kbench::worker
