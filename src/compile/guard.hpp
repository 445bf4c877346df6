// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>

namespace kbench {

/// Becomes another program, a compiler, with limits that hold for all that it starts: memory,
/// files that it may write (256 MB each), a pid and a network namespace where the kernel gives
/// them, and what confine_program() does. `arguments`: MEMORY_BYTES
/// {--read PATH | --write PATH}… -- COMMAND…
/// Throws kbench::Error where that cannot be done.
[[noreturn]] void guard(std::span<const std::string> arguments);

}  // namespace kbench
