// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

#include "kbench/ptx.hpp"

/// An allocator of torch's CPU tensors for a candidate's process, so that the executor can check
/// accesses to them. Each tensor lies between red zones. A new tensor has undefined content
/// (fill_new_memory()), a freed one is overwritten with 0xFF.
namespace kbench::worker {

/// Installs this allocator for the rest of the process. Earlier tensors stay as they are, outside
/// of these checks.
void watch_torch_memory();

/// The memory that kernels may access now: a region for each live allocation, named like "torch
/// tensor of 400 bytes".
std::vector<ptx::Region> torch_regions();

/// Sizes in bytes of the allocations with overwritten red zones: live ones, and those that were
/// freed since the last call.
std::vector<std::size_t> broken_torch_allocations();

}  // namespace kbench::worker
