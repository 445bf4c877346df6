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
  /// Opens or creates it. Throws UsageError if it cannot be written or is no regular file.
  explicit LineFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const;
  /// Locks the file against other runs. Throws UsageError if another run writes it, kbench::Error
  /// if locking fails.
  void lock() const;
  /// True if the file has lines already; then throws UsageError unless `resume`.
  bool begin(bool resume) const;
  std::string first_line() const;
  /// Finds out if an earlier writer was interrupted in its last line. Throws kbench::Error.
  void find_torn_end();
  /// Appends `line` and a line end, and returns its offset. No value, with errno set, if it was not
  /// written whole. A torn line is ended before the next line.
  std::optional<std::uint64_t> append(const std::string& line);

 private:
  std::filesystem::path path_;
  Fd fd_;
  bool torn_ = false;
};

}  // namespace kbench
