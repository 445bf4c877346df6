// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kbench/problem.hpp"
#include "kbench/record.hpp"
#include "kbench/run_file.hpp"

namespace kbench {

/// What `kbench import` was told beyond the folder.
struct ImportOptions {
  /// Baseline files, or folders of them: what speedups are over.
  std::vector<std::filesystem::path> timing = {};
  /// Name the results' problems, and are all in the denominators; none: the problems that have a
  /// result or a kernel.
  std::vector<Problem> problems = {};
  /// Over what the folder says: its generation_config.yaml, its files, its results.
  std::string model = {}, precision = {}, hardware = {};
  std::optional<int> level = {};
};

/// A KernelBench run folder as what stands in a run file.
struct ImportedRun {
  RunHeader header;  ///< without version and arguments, which are the importer's
  std::vector<RosterEntry> roster;
  /// Each with its details: what KernelBench said, as it said it.
  std::vector<std::pair<Record, nlohmann::json>> records;
  std::vector<std::string> notes;  ///< what was passed over or is missing, a sentence each
  bool complete = false;           ///< each entry of the roster has its record
};

/// Reads a run folder: eval_results.json, and where they are there its generation_config.yaml and
/// kernels. The verdicts stay KernelBench's (Record::judge), speedups are ratios of the mean times
/// that it divides, of medians only where a file has them. Throws UsageError naming what is missing
/// or cannot be read, and for baseline times of other hardware than the results'.
ImportedRun import_kernelbench(const std::filesystem::path& folder, const ImportOptions& options);

}  // namespace kbench
