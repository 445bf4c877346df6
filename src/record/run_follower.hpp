// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "kbench/run_file.hpp"
#include "os/subprocess.hpp"

namespace kbench {

/// Lines that were appended to a run file.
struct RunUpdate {
  std::vector<RunHeader> headers;
  std::vector<ManifestEntry> manifest;
  std::vector<Record> records;
  bool ended = false;           ///< the last line read ends the run
  std::uint64_t bad_lines = 0;  ///< lines that could not be read
  bool more = false;            ///< the file was not read to its end: poll() again
};

/// Follows a run file that another process may be writing. Reads each line once.
class RunFollower {
 public:
  /// Throws UsageError if `path` cannot be read.
  explicit RunFollower(std::filesystem::path path);
  /// Reads the complete lines that were appended since the last call, at most some megabytes.
  /// Records have the parts that a report shows. Throws UsageError if the file has become shorter
  /// (another run writes to it), or has a newer major version.
  RunUpdate poll();
  /// True if a process holds the file's write lock.
  bool is_written() const;

 private:
  std::filesystem::path path_;
  Fd file_;
  std::uint64_t offset_ = 0;
  std::string rest_;  ///< the start of a line that is not complete yet
};

}  // namespace kbench
