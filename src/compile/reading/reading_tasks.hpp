// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compile/host/reading_wire.hpp"

namespace kbench {

/// The tasks that kbench-cc does for a Reader, in its own process.
TextsRead read_texts(const TextsJob& job);
LogRead read_log(const LogJob& job);

/// Does the job and packs the answer. Throws kbench::Error if the job names a broken file of the
/// machine.
std::string read_packed(const ReadingJob& job);

/// The folders that the job reads from.
std::vector<std::filesystem::path> folders_of(const ReadingJob& job);

}  // namespace kbench
