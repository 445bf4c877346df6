// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string_view>

#include "os/subprocess.hpp"

namespace kbench {

/// How long a command may go on before it is looked at again, given the number of its process
/// group; 0: its limit is reached. It is asked once more when the command has ended and is not
/// reaped yet, so that what the kernel says of it can still be read.
using CommandWatch = std::function<std::chrono::milliseconds(pid_t group)>;

/// run_command() with a limit that `watch` knows.
CommandResult run_watched_command(const SpawnOptions& options, const CommandWatch& watch,
                                  std::string_view input = {},
                                  std::size_t max_output_bytes = 1u << 20, int cancel_fd = -1);

}  // namespace kbench
