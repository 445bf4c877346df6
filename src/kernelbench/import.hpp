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

/// Options of `kbench import`.
struct ImportOptions {
  /// Files of baseline times, or folders of them, for the speedups.
  std::vector<std::filesystem::path> timing = {};
  /// The problems that metrics count; they also supply the names of the results' problems. Empty:
  /// the problems that have a result or a kernel.
  std::vector<Problem> problems = {};
  /// If not empty, these replace the folder's values (generation_config.yaml, file names, results).
  std::string model = {}, precision = {}, hardware = {};
  std::optional<int> level = {};
};

/// A KernelBench run folder, converted to the parts of a run file.
struct ImportedRun {
  RunHeader header;  ///< without version and arguments, which the caller adds
  std::vector<ManifestEntry> manifest;
  /// Each record with its details: KernelBench's result, unchanged.
  std::vector<std::pair<Record, nlohmann::json>> records;
  std::vector<std::string> notes;  ///< a sentence for each thing that is missing or was ignored
  bool complete = false;           ///< each entry of the manifest has a record
};

/// Reads a run folder: eval_results.json, and generation_config.yaml and the kernels if present.
/// The verdicts stay KernelBench's (Record::judge). Speedups are ratios of mean times, as in
/// KernelBench, or of medians if both files have them. Throws UsageError that names what is missing
/// or cannot be read, or if baseline times and results name different hardware.
ImportedRun import_kernelbench(const std::filesystem::path& folder, const ImportOptions& options);

}  // namespace kbench
