// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace kbench::run {

/// A process as /proc has it.
struct ProcessFacts {
  pid_t pid = 0, parent = 0, session = 0;
  char state = 0;  ///< "R" runs, "T" is stopped, …
};
/// All that run on this machine now.
std::vector<ProcessFacts> running_processes();

/// Of `all`, `root` and what it has started. `forker` is the process that forks for everybody:
/// where another one is the parent of `root`, that is the init of its pid namespace, and all below
/// it belong to `root`. Elsewhere who has left both the session and the family is not found.
std::vector<pid_t> family_of(const std::vector<ProcessFacts>& all, pid_t root, pid_t forker);

/// Bytes of the files in folders of temporary files that a process has for itself, in memory
/// (CagePart::kTemporary, and /dev/shm); 0 where it has none.
std::size_t own_files_bytes(pid_t pid);

/// Files in memory that have no name (memfd_create): their bytes by their numbers.
using MemoryFiles = std::map<std::uint64_t, std::size_t>;
/// Those of which the processes have a descriptor, mapped or not. One that is on its way in a
/// message is not found; a MemoryGroup counts it.
MemoryFiles memory_files_of(const std::vector<pid_t>& pids);

/// Whether the processes have more than `limit_bytes` of memory, what they share with each other
/// counted once, and `files` as a whole: their resident sizes tell cheaply that they have not.
bool have_more_memory(const std::vector<pid_t>& pids, std::size_t limit_bytes,
                      const MemoryFiles& files = {});

/// Makes the processes the first to go where the machine's memory runs out, if they have taken that
/// back.
void let_go_first(const std::vector<pid_t>& pids);

}  // namespace kbench::run
