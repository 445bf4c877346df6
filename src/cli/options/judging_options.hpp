// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kbench/run.hpp"

namespace kbench::cli {

/// The names of a table's rows.
template <typename Rows>
std::vector<std::string> names_of(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

/// Values of judging options that EvalOptions does not hold.
struct JudgingArguments {
  std::vector<std::string> settings;  ///< --set
  std::string reduce_sizes = "auto";
  bool kb_compat = false;
};

/// Adds the options for the check, the device and the sizes. They are the same for `eval`, `audit`
/// and `baseline`.
void add_judging_options(CLI::App& app, JudgingArguments& arguments, EvalOptions& options);
/// Completes `options` from the parsed arguments. Throws UsageError.
void take_judging_options(const CLI::App& app, const JudgingArguments& arguments,
                          EvalOptions& options);

/// Adds `--timing`, `--l2` and `--timing-budget`; `measured` is what the budget is for.
void add_timing_options(CLI::App& app, EvalOptions& options, std::string& l2,
                        std::string_view measured);

/// If a command takes candidates as baselines (`candidate:PATH`).
enum class BaselineCandidates : std::uint8_t { kAllowed, kRefused };
/// Adds `--baseline`.
void add_baseline_option(CLI::App& app, EvalOptions& options, BaselineCandidates candidates);
/// Throws UsageError if a baseline is named twice.
void check_baselines(const EvalOptions& options);

}  // namespace kbench::cli
