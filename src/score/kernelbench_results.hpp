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

/// KernelBench's result for one sample, with the fields of its eval_results.json.
struct KernelBenchResult {
  int problem = 0;  ///< the problem's number
  int sample = 0;
  std::string name;  ///< "19_ReLU"; empty unless kbench wrote the file
  bool compiled = false, correct = false;
  nlohmann::json metadata = nlohmann::json::object();
  std::optional<SideTiming> time;       ///< `runtime` and `runtime_stats`
  std::optional<SideTiming> reference;  ///< `ref_runtime`: eager, measured in the same run
  std::string fault;                    ///< why the entry cannot be read; else empty
};

struct KernelBenchResults {
  std::vector<KernelBenchResult> results;  ///< by problem and sample, each once
  std::vector<std::string> notes;          ///< a sentence for each entry that was ignored
};

/// Reads the text of an eval_results.json in every form that KernelBench's scripts have written:
/// per problem a list of samples, an object of samples by their ids, or a single sample. If a
/// sample has several results, the last is used. If the text has another form, throws kbench::Error
/// with a clause about it.
KernelBenchResults parse_kernelbench_results(std::string_view text);

}  // namespace kbench
