// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace kbench::run {

/// Which trivial answers pass the whole check of a problem: asked once for a problem and its sizes,
/// and kept in a folder for other runs. For several threads.
class TrivialPasses {
 public:
  /// `check` names all that the answer follows from beside the problem: precision, trials, kind of
  /// device, torch, judge and its mode.
  TrivialPasses(std::filesystem::path folder, std::string check);

  /// The names of those that pass, empty if none does; nothing where it is not known.
  std::optional<std::vector<std::string>> find(const std::string& problem_hash);
  void keep(const std::string& problem_hash, const std::vector<std::string>& names);

 private:
  std::filesystem::path file_of(const std::string& problem_hash) const;

  std::filesystem::path folder_;
  std::string check_;
  std::mutex mutex_;
  std::map<std::string, std::vector<std::string>> known_;  ///< by problem_hash
};

}  // namespace kbench::run
