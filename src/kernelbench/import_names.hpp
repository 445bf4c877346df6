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

/// What a problem that results know by its number is called.
struct ImportName {
  int number = 0;
  std::string stem;  ///< "19_ReLU"; only the number where nothing names it
  std::string key;   ///< "level1/19_ReLU"
  std::string
      hash;  ///< as KernelBench runs it, with the file's own sizes; "" where it is not there
  std::vector<std::string> tags;
};

/// The names of one level's problems by their numbers.
class ImportNames {
 public:
  /// From `problems` where there are any, and then only those; else from the names in `timing`,
  /// which KernelBench writes by file name, or in `results` that kbench has written. Throws
  /// UsageError where `problems` has none of the level, or two of one number.
  ImportNames(int level, const std::vector<Problem>& problems,
              const std::vector<BaselineTimes>& timing,
              const std::vector<KernelBenchResult>& results);

  /// Nothing where problems were named and this is none of them.
  std::optional<ImportName> name_of(int number);
  /// The problems that were named, in the order of their numbers.
  std::vector<ImportName> named() const;
  /// Whether a name was asked for that only the number stands for.
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
