// SPDX-License-Identifier: MIT
#include "cli/options/judging_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"
#include "cli/options/kb_compat.hpp"
#include "cli/options/option_checks.hpp"
#include "cli/options/reduce_sizes_option.hpp"
#include "kbench/error.hpp"
#include "protocol/timing_method.hpp"
#include "record/baseline.hpp"
#include "record/stored_baselines.hpp"
#include "run/devices.hpp"

namespace kbench::cli {

void add_judging_options(CLI::App& app, JudgingArguments& arguments, EvalOptions& options) {
  app.add_option("--device", options.device, "auto, cpu, cuda, or cuda:0,1")->capture_default_str();
  app.add_option("--precision", options.precision, "native, tf32, fp16, bf16")
      ->check(one_of(names_of(precisions())))
      ->capture_default_str();
  app.add_flag("--kb-compat", arguments.kb_compat,
               "judge modules by KernelBench's rules: its seeds, casts, tolerance and timing");
  app.add_flag("--eval-mode", options.eval_mode,
               "put the reference and the candidate in eval mode: running statistics instead of "
               "the batch's, no dropout");
  app.add_option("--trials", options.trials, "correctness trials, each on different inputs")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("--distributions,!--no-distributions", options.distributions,
               "also check with other input distributions than the problem's (default)");
  app.add_option("--seed", options.seed,
                 "draw inputs from this public seed (default: a secret one)");
  app.add_option("--set", arguments.settings, "NAME=VALUE: override a problem's constant")
      ->allow_extra_args(false);
  add_reduce_sizes_option(app, arguments.reduce_sizes);
}

void take_judging_options(const CLI::App& app, const JudgingArguments& arguments,
                          EvalOptions& options) {
  options.reduce_sizes = parse_reduce_sizes(arguments.reduce_sizes);
  if (arguments.kb_compat) choose_kernelbench_rules(app, options);
}

namespace {

std::string timing_help() {
  std::vector<std::string> rows;
  for (const TimingMethod& method : timing_methods())
    rows.push_back(fmt::format("{}: {}", method.name, method.meaning));
  return fmt::format("{}", fmt::join(rows, "; "));
}

}  // namespace

void add_timing_options(CLI::App& app, EvalOptions& options) {
  app.add_option("--timing", options.timing, timing_help())
      ->check(one_of(names_of(timing_methods())))
      ->capture_default_str();
  app.add_option("--score", options.score,
                 "time of a call on a GPU: span, from the first start of its work to the last end; "
                 "busy, while any work ran; wall, until the caller has the result")
      ->check(one_of({kSpanScore, kBusyScore, kWallScore}))
      ->capture_default_str();
}

/// A score by another clock than the method's would mix two timing methods in one run.
void check_score(const EvalOptions& options) {
  const protocol::TimeClock clock = find_timing_method(options.timing)->clock;
  const bool differs = (options.score == kBusyScore && clock != protocol::TimeClock::kDevice) ||
                       (options.score == kWallScore && clock != protocol::TimeClock::kHost);
  if (differs && clock != protocol::TimeClock::kEvents)
    throw UsageError(fmt::format("--timing {} and --score {} use two clocks: omit one of them",
                                 options.timing, options.score));
}

void add_baseline_option(CLI::App& app, EvalOptions& options, BaselineCandidates candidates) {
  const std::vector<std::string> names = names_of(baselines());
  const auto check = [names, candidates](const std::string& name) -> std::string {
    if (candidates == BaselineCandidates::kAllowed && is_baseline_candidate(name))
      return name.size() > kCandidatePrefix.size() ? "" : "candidate: needs a path";
    if (std::ranges::find(names, name) != names.end()) return "";
    return fmt::format("there is no baseline {}; there are {}{}{}", name, fmt::join(names, ", "),
                       candidates == BaselineCandidates::kAllowed ? " and candidate:PATH" : "",
                       did_you_mean(name, names));
  };
  app.add_option(
         "--baseline", options.baselines,
         candidates == BaselineCandidates::kAllowed
             ? "ways to run the reference, or candidate:PATH for other candidates; speedups "
               "are over the first (default: eager)"
             : "ways to run the reference (default: eager)")
      ->delimiter(',')
      ->check(CLI::Validator(check, fmt::format("{{{}}}", fmt::join(names, ","))))
      ->allow_extra_args(false);
}

void check_baselines(const EvalOptions& options, const EvalRun& run) {
  const std::vector<std::string>& names = options.baselines;
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) != name)
      throw UsageError(fmt::format("--baseline names {} twice", *name));
    if (is_baseline_candidate(*name)) continue;
    if (find_baseline(*name)->needs_gpu && !run.devices().front().gpu)
      throw UsageError(fmt::format("--baseline {} needs a GPU, and this run is on the CPU", *name));
  }
}

}  // namespace kbench::cli
