// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string_view>

#include "os/subprocess.hpp"

namespace kbench {

/// Decides how long a command may run before the next check, given its process group; 0: it has
/// reached its limit. Called once more after the command ended and before it is reaped, so it can
/// still read the command's entries in /proc.
using CommandWatch = std::function<std::chrono::milliseconds(pid_t group)>;

/// run_command() with a limit that `watch` decides.
CommandResult run_watched_command(const SpawnOptions& options, const CommandWatch& watch,
                                  std::string_view input = {},
                                  std::size_t max_output_bytes = 1u << 20, int cancel_fd = -1);

}  // namespace kbench
