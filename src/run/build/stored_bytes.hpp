// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace kbench::run {

/// Bytes in a file on disk that lasts as long as the run. They are not kept in memory, because
/// candidates decide their number. Copies share the file; the last copy removes it.
class StoredBytes {
 public:
  StoredBytes() = default;
  /// Writes a file in `folder`, and makes the folder if needed. Throws kbench::Error.
  StoredBytes(std::string_view bytes, const std::filesystem::path& folder);
  std::size_t size() const { return size_; }
  /// Throws kbench::Error if the file cannot be read or has changed.
  std::string read() const;

 private:
  std::shared_ptr<const std::filesystem::path> file_;
  std::size_t size_ = 0;
};

/// Removes files that killed runs left in that folder.
void remove_stored_bytes(const std::filesystem::path& folder);

}  // namespace kbench::run
