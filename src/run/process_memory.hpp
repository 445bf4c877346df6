// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <vector>

namespace kbench::run {

/// A process as /proc has it.
struct ProcessFacts {
  pid_t pid = 0, parent = 0, session = 0;
};
/// All that run on this machine now.
std::vector<ProcessFacts> running_processes();

/// Of `all`, `root` and what it has started. `forker` is the process that forks for everybody:
/// where another one is the parent of `root`, that is the init of its pid namespace, and all below
/// it belong to `root`. Elsewhere who has left both the session and the family is not found.
std::vector<pid_t> family_of(const std::vector<ProcessFacts>& all, pid_t root, pid_t forker);

/// Bytes of the files in folders of temporary files that a process has for itself, in memory
/// (CagePart::kTemporary); 0 where it has none.
std::size_t own_files_bytes(pid_t pid);

/// Whether the processes have more than `limit_bytes` of memory, what they share with each other
/// counted once: their resident sizes tell cheaply that they have not.
bool have_more_memory(const std::vector<pid_t>& pids, std::size_t limit_bytes);

}  // namespace kbench::run
