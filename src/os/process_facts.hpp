// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

namespace kbench {

/// A process's entry in /proc.
struct ProcessFacts {
  pid_t pid = 0, parent = 0, session = 0;
  char state = 0;  ///< "R" runs, "T" is stopped, …
  pid_t group = 0;
  /// Processor time of the process and of its children that ended and were waited for, in clock
  /// ticks.
  unsigned long long ticks = 0;
};
/// Nothing if there is no such process.
std::optional<ProcessFacts> process_facts(pid_t pid);
/// All processes of this machine.
std::vector<ProcessFacts> running_processes();

}  // namespace kbench
