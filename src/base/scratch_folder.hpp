// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

namespace kbench {

/// A temporary folder; its destructor removes it with its contents.
class ScratchFolder {
 public:
  /// Throws kbench::Error if it cannot be made.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace kbench
