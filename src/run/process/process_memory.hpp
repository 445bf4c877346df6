// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "os/process_facts.hpp"

namespace kbench::run {

/// `root` and its descendants among `all`. `forker` is the fork server. If the parent of `root` is
/// another process, it is the init process of the PID namespace of `root`, and all its descendants
/// are included. Otherwise a process that left both the session and the process tree is not found.
std::vector<pid_t> family_of(const std::vector<ProcessFacts>& all, pid_t root, pid_t forker);

/// Bytes of in-memory files in a process's private temporary folders (SandboxPart::kTemporary, and
/// /dev/shm); 0 if it has none.
std::size_t own_files_bytes(pid_t pid);

/// Memory files without a name (memfd_create): inode → bytes.
using MemoryFiles = std::map<std::uint64_t, std::size_t>;
/// The memory files for which the processes have a descriptor, mapped or not. A descriptor in
/// flight in a message is not found, but a MemoryGroup counts it.
MemoryFiles memory_files_of(const std::vector<pid_t>& pids);

/// True if the processes use more than `limit_bytes` of memory. Shared memory counts once, and each
/// of `files` counts in full. Compares resident sizes first, because that is cheap.
bool have_more_memory(const std::vector<pid_t>& pids, std::size_t limit_bytes,
                      const MemoryFiles& files = {});

/// Makes the kernel kill these processes first if the machine's memory runs out. Call it
/// repeatedly, because a process may undo it.
void let_go_first(const std::vector<pid_t>& pids);

}  // namespace kbench::run
