// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kbench/ptx.hpp"

namespace kbench::ptx {

/// Memory of the module that kernels may write without an argument: its variables and its heap.
/// Each starts on a page boundary and shares no page.
std::vector<std::span<std::byte>> own_memory(Module& module);

}  // namespace kbench::ptx
