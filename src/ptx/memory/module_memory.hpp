// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kbench/ptx.hpp"

namespace kbench::ptx {

/// The memory of a module that its kernels may write besides their arguments': its variables and
/// its heap. Each begins a page, and has its pages to itself.
std::vector<std::span<std::byte>> own_memory(Module& module);

}  // namespace kbench::ptx
