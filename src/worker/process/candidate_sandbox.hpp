// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "os/sandbox/sandbox.hpp"

namespace kbench::worker {

/// True if a candidate gets this environment variable: settings of the machine and its libraries,
/// but no variable that reveals paths.
bool is_kept_variable(std::string_view name);

/// Folders of Python, its packages and compilers, without folders that contain one of `hidden`.
std::vector<std::filesystem::path> tool_folders(const std::vector<std::filesystem::path>& hidden);

/// The sandbox of all candidates of this process.
class CandidateSandbox {
 public:
  /// `readable`: kbench's files that candidates may read; the first is in the cache. `hidden`:
  /// folders that they must not see, each followed by a zero byte. `first_words`: main()'s
  /// arguments and environment. They are readable in /proc, so they are erased in a candidate.
  CandidateSandbox(std::vector<std::filesystem::path> readable, std::string_view hidden,
                   std::vector<char*> first_words);

  /// Sandboxes a process that `forker` has forked, with its own environment and `folder` as its
  /// home.
  void enter(SandboxForker& forker, const std::filesystem::path& folder) const;

 private:
  std::vector<std::filesystem::path> readable_;
  std::vector<char*> first_words_;
  SandboxParts expected_;  ///< parts that a test process got on this machine
};

}  // namespace kbench::worker
