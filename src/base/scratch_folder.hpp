// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

namespace kbench {

/// A temporary folder; its destructor removes it with all that is in it.
class ScratchFolder {
 public:
  /// Throws kbench::Error where it cannot be made.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace kbench
