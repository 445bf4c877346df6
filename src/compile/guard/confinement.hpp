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

/// Restricts this process permanently: it may read only files below `folders`, and load no more
/// libraries. There are two barriers. On every kernel, kbench-cc's own open and fopen replace
/// libc's for every library in the process, and refuse other paths. Landlock (Linux 5.13) also
/// stops code that avoids those functions, and forbids writing and executing files. Without
/// Landlock only the first barrier exists. It stops everything that a source can make NVRTC read,
/// but not machine code that exploits a fault in NVRTC. Other restrictions are those of the
/// candidate's sandbox: no privileges, a table of refused system calls, limits of processes and
/// descriptors. `own`: the process's own namespaces.
void confine_reads(const std::vector<std::filesystem::path>& folders, OwnNamespaces own = {});

/// Restricts this process and every program that it executes or starts: they may read and execute
/// only files below `read`, and write only files below `write`. Only Landlock enforces this;
/// without it no path is refused. Other restrictions are as above.
void confine_program(const std::vector<std::filesystem::path>& read,
                     const std::vector<std::filesystem::path>& write, OwnNamespaces own = {});

/// The first existing file outside the folders that this process tried to open, if any.
std::optional<std::string> refused_file();

/// For the hooks: true if `path` may be opened. Remembers the first refused file.
bool may_open(const char* path);
bool is_confined();

/// Calls `exceeded` once from another thread when this process's resident size goes above `bytes`.
void watch_memory(std::size_t bytes, std::function<void()> exceeded);

}  // namespace kbench
