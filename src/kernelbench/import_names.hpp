// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kbench/problem.hpp"
#include "score/kernelbench_results.hpp"
#include "score/kernelbench_timing.hpp"

namespace kbench {

/// The name of a problem that results identify by its number.
struct ImportName {
  int number = 0;
  std::string stem;  ///< "19_ReLU"; only the number if the name is unknown
  std::string key;   ///< "level1/19_ReLU"
  std::string hash;  ///< of the problem at its file's sizes, which KernelBench uses; empty: unknown
  std::vector<std::string> tags;
};

/// Maps the numbers of one level's problems to their names.
class ImportNames {
 public:
  /// If `problems` is not empty, takes names only from it. Else takes them from `timing`, where
  /// KernelBench writes file names, and from `results` that kbench wrote. Throws UsageError if
  /// `problems` has none of this level, or two with one number.
  ImportNames(int level, const std::vector<Problem>& problems,
              const std::vector<BaselineTimes>& timing,
              const std::vector<KernelBenchResult>& results);

  /// None if `problems` was not empty and lacks this number.
  std::optional<ImportName> name_of(int number);
  /// The names from `problems`, in the order of their numbers.
  std::vector<ImportName> named() const;
  /// True if name_of() had to return only a number as a name.
  bool any_by_number() const { return any_by_number_; }

 private:
  void add(const Problem& problem);
  void add(const std::string& stem);

  int level_;
  bool only_these_;
  bool any_by_number_ = false;
  std::map<int, ImportName> names_;
};

}  // namespace kbench
