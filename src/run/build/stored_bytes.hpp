// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace kbench::run {

/// Bytes in a file on disk, for what is kept as long as a run lasts: candidates decide how much of
/// it there is. Copies share the file, which goes with the last of them.
class StoredBytes {
 public:
  StoredBytes() = default;
  /// Writes a file below `folder`, which is made where it is missing. Throws kbench::Error.
  StoredBytes(std::string_view bytes, const std::filesystem::path& folder);
  std::size_t size() const { return size_; }
  /// Throws kbench::Error where the file is not as it was written.
  std::string read() const;

 private:
  std::shared_ptr<const std::filesystem::path> file_;
  std::size_t size_ = 0;
};

/// Removes what runs that were killed have left in that folder.
void remove_stored_bytes(const std::filesystem::path& folder);

}  // namespace kbench::run
