// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "os/sandbox/own_namespaces.hpp"

namespace kbench {

/// From here on this process reads files below `folders` alone, and loads no further libraries.
/// Two walls: kbench-cc's own open and fopen stand before libc's for every library in the process
/// and refuse other paths, on every kernel; and Landlock, where the kernel has it (Linux 5.13),
/// holds against what would go past them, and forbids writing and executing files as well. Without
/// Landlock the first wall stands alone: it stops whatever NVRTC can be told to read, not machine
/// code that a fault in NVRTC let in. The rest is the candidate's cage: no privileges, the system
/// calls of its table refused, bounds of processes and descriptors; `own` is what this process has
/// for itself.
void confine_reads(const std::vector<std::filesystem::path>& folders, OwnNamespaces own = {});

/// From here on, and in every program that this process becomes or starts, only what lies below the
/// `read` paths may be read and executed, and only what lies below `write` written. Landlock alone
/// does it: without it, nothing is refused. The rest as above.
void confine_program(const std::vector<std::filesystem::path>& read,
                     const std::vector<std::filesystem::path>& write, OwnNamespaces own = {});

/// The first existing file outside the folders that somebody tried to open, if any.
std::optional<std::string> refused_file();

/// Whether a path may be opened once confined; what is refused is remembered. For the hooks.
bool may_open(const char* path);
bool is_confined();

/// Calls `exceeded` once from another thread when this process's resident size goes above `bytes`.
void watch_memory(std::size_t bytes, std::function<void()> exceeded);

}  // namespace kbench
