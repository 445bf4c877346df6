// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace kbench::run {

/// Caches for each problem and its sizes which trivial answers pass the whole check. A folder keeps
/// them for later runs. Thread-safe.
class TrivialPasses {
 public:
  /// `check` names everything besides the problem that decides the result: precision, trials, kind
  /// of device, torch, judge and its mode.
  TrivialPasses(std::filesystem::path folder, std::string check);

  /// The names of the answers that pass, empty if none do; nothing if unknown.
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
