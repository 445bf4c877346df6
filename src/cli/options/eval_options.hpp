// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "cli/options/eval_input.hpp"
#include "cli/options/judging_options.hpp"
#include "cli/options/report_options.hpp"
#include "kbench/run.hpp"

namespace kbench::cli {

/// Values of eval's `--profile`: the kernels that ran (the default), or these with Nsight Compute's
/// measurements.
inline constexpr const char* kKernelsProfile = "kernels";
inline constexpr const char* kNcuProfile = "ncu";

/// The arguments of `kbench eval`.
struct EvalArguments {
  EvalInputArguments input;
  JudgingArguments judging;
  EvalOptions options;
  std::string out, l2 = "cold", profile;
  std::string reuse_from;
  bool resume = false;
  std::vector<std::string> requirements;
  ReportArguments report;
  std::vector<std::string> command_line;
};

/// Adds the options of `kbench eval`, except those that choose problems and candidates.
void add_eval_options(CLI::App& app, EvalArguments& arguments);

}  // namespace kbench::cli
