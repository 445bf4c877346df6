// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "os/sandbox/sandbox.hpp"

namespace kbench::worker {

/// Whether a candidate gets this variable of the environment: what says how the machine and its
/// libraries are to be used, and nothing of where things lie.
bool is_kept_variable(std::string_view name);

/// Folders that Python, its packages and compilers are read from, without those above one of
/// `hidden`.
std::vector<std::filesystem::path> tool_folders(const std::vector<std::filesystem::path>& hidden);

/// What all candidates of this process are sandboxed with.
class CandidateSandbox {
 public:
  /// `readable`: what they read of kbench's, the first of it in the cache. `hidden`: folders that
  /// they are not shown, each with a zero behind it. `first_words` are main()'s arguments and
  /// environment, which anybody finds in /proc: none of it stays in a candidate.
  CandidateSandbox(std::vector<std::filesystem::path> readable, std::string_view hidden,
                   std::vector<char*> first_words);

  /// In a process that `forker` has forked: gives it an environment of its own, with `folder` as
  /// its home, and puts the sandbox on.
  void enter(SandboxForker& forker, const std::filesystem::path& folder) const;

 private:
  std::vector<std::filesystem::path> readable_;
  std::vector<char*> first_words_;
  SandboxParts expected_;  ///< what the machine gave to a process that tried
};

}  // namespace kbench::worker
