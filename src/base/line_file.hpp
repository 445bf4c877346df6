// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/fd.hpp"

namespace kbench {

/// A file that only grows by whole lines. Each line is a single write(2) on an O_APPEND descriptor.
class LineFile {
 public:
  /// Opens or creates it. Throws UsageError if it cannot be written or is not a regular file.
  explicit LineFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const;
  /// Locks the file against other runs. Throws UsageError if another run writes it, kbench::Error
  /// if locking fails.
  void lock() const;
  /// True if the file already has lines. In that case throws UsageError unless `resume` is true.
  bool begin(bool resume) const;
  std::string first_line() const;
  /// Checks if the last line is cut off, because an earlier writer was interrupted. Throws
  /// kbench::Error.
  void find_torn_end();
  /// Appends `line` and a line end, and returns its offset. Returns no value, with errno set, if
  /// the line was not written whole; the next call then starts a new line.
  std::optional<std::uint64_t> append(const std::string& line);

 private:
  std::filesystem::path path_;
  Fd fd_;
  bool torn_ = false;
};

}  // namespace kbench
