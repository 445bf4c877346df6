// SPDX-License-Identifier: MIT
#pragma once

#include "kernelbench/export.hpp"

namespace kbench::report {

/// Under which key of `metadata` KernelBench explains an outcome.
struct KernelBenchOutcome {
  Outcome outcome;
  const char* key;
};
/// One row per outcome.
std::span<const KernelBenchOutcome> kernelbench_outcomes();

/// One run folder for each model, level, precision, device and judge, named after the model and
/// what else differs in the run: `runs/NAME/` with eval_results.json, pass_at_k_results.json and
/// generation_config.yaml, and `results/timing/HARDWARE_NAME/` with the baselines' times as they
/// were measured beside these candidates. What came beyond loading is `compiled`. All times are
/// means, as KernelBench divides them; those of the CPU are left out.
Export export_kernelbench(const RunFile& run, const ExportOptions& options);

}  // namespace kbench::report
