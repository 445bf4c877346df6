// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/fd.hpp"

namespace kbench {

/// A file that only grows, by whole lines, each a single write(2) on an O_APPEND descriptor.
class LineFile {
 public:
  /// Opens or creates it. Throws UsageError where it cannot be written or is no regular file.
  explicit LineFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const;
  /// Keeps other runs out. Throws UsageError where one is writing, kbench::Error where it fails.
  void lock() const;
  /// Whether it holds lines already; throws UsageError where it does and `resume` is false.
  bool begin(bool resume) const;
  std::string first_line() const;
  /// Looks whether an earlier writer was interrupted in its last line. Throws kbench::Error.
  void find_torn_end();
  /// Appends `line` and its end, and gives the offset at which it stands; no value, with errno
  /// set, where it could not be written whole. A torn line is never left before a good one.
  std::optional<std::uint64_t> append(const std::string& line);

 private:
  std::filesystem::path path_;
  Fd fd_;
  bool torn_ = false;
};

}  // namespace kbench
