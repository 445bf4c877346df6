// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>

namespace kbench {

inline constexpr int kGuardReport = 3;
inline constexpr char kGuardStarted = '+';

/// Becomes another program, a compiler, with limits that hold for all that it starts: memory,
/// files that it may write (256 MB each), a pid and a network namespace where the kernel gives
/// them, and what confine_program() does. `arguments`: MEMORY_BYTES
/// {--read PATH | --write PATH}… -- COMMAND…
/// The driver learns by descriptor kGuardReport how that went: kGuardStarted alone is written
/// before the compiler takes over, and a sentence where something fails. The compiler does not have
/// that descriptor. Throws kbench::Error where it cannot be done.
[[noreturn]] void guard(std::span<const std::string> arguments);

}  // namespace kbench
