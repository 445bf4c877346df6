// SPDX-License-Identifier: MIT
#pragma once

#include "kernelbench/export.hpp"

namespace kbench::report {

/// The key of `metadata` under which KernelBench explains an outcome.
struct KernelBenchOutcome {
  Outcome outcome;
  const char* key;
};
/// One row per outcome.
std::span<const KernelBenchOutcome> kernelbench_outcomes();

/// Makes a run folder for each model, level, precision, device and judge. NAME is the model with
/// those of the others that differ in the run. `runs/NAME/` has eval_results.json,
/// pass_at_k_results.json and generation_config.yaml. `results/timing/HARDWARE_NAME/` has the
/// baselines' times from the same run. A sample is `compiled` if it got beyond loading. All times
/// are means, because KernelBench divides means; times of the CPU are left out.
Export export_kernelbench(const RunFile& run, const ExportOptions& options);

}  // namespace kbench::report
