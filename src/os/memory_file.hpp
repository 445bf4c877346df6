// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "os/subprocess.hpp"

namespace kbench {

/// Puts `content` into a sealed memory file, which no process can change. Another process may get
/// its descriptor. Throws kbench::Error.
Fd sealed_memory_file(std::string_view content);

/// All bytes of a file from its start. Ignores the file's position. Throws kbench::Error.
std::string read_whole(int fd);

}  // namespace kbench
