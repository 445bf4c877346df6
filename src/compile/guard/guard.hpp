// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>

namespace kbench {

inline constexpr int kGuardReport = 3;
inline constexpr char kGuardStarted = '+';

/// Replaces this process by a compiler. Its limits also hold for its children: memory, 256 MB for
/// each file that it writes, and those of confine_program(). It gets pid and network namespaces of
/// its own if the kernel has them. `arguments`: MEMORY_BYTES {--read PATH | --write PATH}… --
/// COMMAND…
/// Reports to the driver on descriptor kGuardReport, which the compiler does not get: kGuardStarted
/// just before the compiler starts, or a sentence if something fails. Throws kbench::Error if the
/// compiler cannot be started.
[[noreturn]] void guard(std::span<const std::string> arguments);

}  // namespace kbench
