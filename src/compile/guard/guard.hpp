// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>

namespace kbench {

inline constexpr int kGuardReport = 3;
inline constexpr char kGuardStarted = '+';

/// Replaces this process by a compiler. The compiler and its children have limits: memory, 256 MB
/// for each written file, and those of confine_program(). It gets PID and network namespaces of its
/// own if the kernel has them. `arguments`: MEMORY_BYTES {--read PATH | --write PATH}… -- COMMAND…
/// Reports to the driver on descriptor kGuardReport, which the compiler does not get. The report is
/// kGuardStarted just before the compiler starts, or a sentence about a failure. Throws
/// kbench::Error if the compiler cannot be started.
[[noreturn]] void guard(std::span<const std::string> arguments);

/// If memory runs out, the kernel kills this process first.
void die_first();

}  // namespace kbench
