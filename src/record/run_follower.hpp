// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "kbench/run_file.hpp"
#include "os/subprocess.hpp"

namespace kbench {

/// What a run file has gained.
struct RunNews {
  std::vector<RunHeader> headers;
  std::vector<RosterEntry> roster;
  std::vector<Record> records;
  bool ended = false;           ///< the last of its lines that says so ends the run
  std::uint64_t bad_lines = 0;  ///< that could not be read
  bool more = false;            ///< the file was not read to its end: poll() again
};

/// Follows a run file that another process may be writing, reading each line once.
class RunFollower {
 public:
  /// Throws UsageError where `path` cannot be read.
  explicit RunFollower(std::filesystem::path path);
  /// The whole lines that were appended since the last call, of some megabytes at most; records
  /// have what a report shows. Throws UsageError where the file has become shorter (another run
  /// writes to it), and for one of a newer major version.
  RunNews poll();
  /// Whether a process holds the file to write to it.
  bool is_written() const;

 private:
  std::filesystem::path path_;
  Fd file_;
  std::uint64_t offset_ = 0;
  std::string rest_;  ///< the start of a line whose end is not there yet
};

}  // namespace kbench
