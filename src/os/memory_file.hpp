// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "os/subprocess.hpp"

namespace kbench {

/// `content` in a sealed memory file, which no process can change, to be sent to another process.
/// Throws kbench::Error.
Fd sealed_memory_file(std::string_view content);

/// All bytes of a file from its start, whatever its position. Throws kbench::Error.
std::string read_whole(int fd);

}  // namespace kbench
