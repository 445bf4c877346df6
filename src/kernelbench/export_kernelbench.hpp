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

/// Makes a run folder for each model, level, precision, device and judge. NAME is the model, plus
/// each other part that differs within the run. `runs/NAME/` has eval_results.json,
/// pass_at_k_results.json and generation_config.yaml. `results/timing/HARDWARE_NAME/` has the
/// baselines' times from the same run. A sample is `compiled` if it has been loaded. All times are
/// means, because KernelBench divides means; CPU times are left out.
Export export_kernelbench(const RunFile& run, const ExportOptions& options);

}  // namespace kbench::report
