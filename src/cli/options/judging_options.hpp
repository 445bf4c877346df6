// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
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

/// What a command line says of how answers are judged, besides EvalOptions.
struct JudgingArguments {
  std::vector<std::string> settings;  ///< --set
  std::string shrink = "auto";
  bool kb_compat = false;
};

/// Adds the options that say by which check, on what device and at what sizes problems are judged;
/// `eval` and `audit` have them alike.
void add_judging_options(CLI::App& app, JudgingArguments& arguments, EvalOptions& options);
/// Puts into `options` what the arguments mean, when they have been parsed. Throws UsageError.
void take_judging_options(const CLI::App& app, const JudgingArguments& arguments,
                          EvalOptions& options);

/// Adds `--timing` and `--score`.
void add_timing_options(CLI::App& app, EvalOptions& options);
/// Throws UsageError where they ask for two clocks.
void check_score(const EvalOptions& options);

/// Whether a command takes candidates as baselines.
enum class Rivals : std::uint8_t { kTaken, kNone };
/// Adds `--baseline`.
void add_baseline_option(CLI::App& app, EvalOptions& options, Rivals rivals);
/// Throws UsageError where a baseline is named twice, or cannot be run on the run's device.
void check_baselines(const EvalOptions& options, const EvalRun& run);

}  // namespace kbench::cli
