// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/record.hpp"

namespace kbench {

/// What KernelBench says of one sample, in the words of its eval_results.json.
struct KernelBenchResult {
  int problem = 0;  ///< its number
  int sample = 0;
  std::string name;  ///< "19_ReLU", where kbench has written it
  bool compiled = false, correct = false;
  nlohmann::json metadata = nlohmann::json::object();
  std::optional<SideTiming> time;       ///< `runtime` and `runtime_stats`
  std::optional<SideTiming> reference;  ///< `ref_runtime`: eager, measured beside it
  std::string fault;                    ///< why the entry cannot be read; "" where it can
};

struct KernelBenchResults {
  std::vector<KernelBenchResult> results;  ///< by problem and sample, each once
  std::vector<std::string> notes;          ///< what was passed over, a sentence each
};

/// Reads the text of an eval_results.json in each form that KernelBench's scripts have written: per
/// problem a list of samples, an object of samples by their ids, or the one sample itself. Of
/// several results for a sample the last counts. Throws kbench::Error with a clause about the text
/// where it is nothing of the kind.
KernelBenchResults parse_kernelbench_results(std::string_view text);

}  // namespace kbench
