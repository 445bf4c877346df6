// SPDX-License-Identifier: MIT
#include "cli/options/judging_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.hpp"
#include "cli/help/option_groups.hpp"
#include "cli/options/kb_compat.hpp"
#include "cli/options/option_checks.hpp"
#include "cli/options/reduce_sizes_option.hpp"
#include "kbench/error.hpp"
#include "record/baseline.hpp"
#include "record/stored_baselines.hpp"

namespace kbench::cli {

void add_judging_options(CLI::App& app, JudgingArguments& arguments, EvalOptions& options) {
  app.option_defaults()->group(group::kJudged);
  app.add_option("--set", arguments.settings,
                 "override a constant of the problems; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  add_reduce_sizes_option(app, arguments.reduce_sizes);
  app.option_defaults()->group(group::kJudging);
  app.add_option("--device", options.device, "auto, cpu, cuda, or cuda:0,1")
      ->type_name("DEVICE")
      ->capture_default_str();
  app.add_option("--precision", options.precision,
                 "native (the problem's own types), tf32, fp16 or bf16")
      ->type_name("PRECISION")
      ->check(one_of(names_of(precisions())))
      ->capture_default_str();
  app.add_flag("--kb-compat", arguments.kb_compat,
               "judge modules by KernelBench's rules: its seeds, casts, tolerance and timing");
  app.add_flag("--eval-mode", options.eval_mode,
               "put the reference and the candidate in eval mode: running statistics instead of "
               "the batch's, no dropout");
  app.add_option("--trials", options.trials,
                 "correctness trials, 1 to 1000, each on different inputs")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("!--no-distributions", options.distributions,
               "check only with inputs that the problem draws, not with other distributions");
  app.add_option("--seed", options.seed,
                 "draw inputs from this public seed (default: a secret one)")
      ->type_name("N");
}

void take_judging_options(const CLI::App& app, const JudgingArguments& arguments,
                          EvalOptions& options) {
  options.reduce_sizes = parse_reduce_sizes(arguments.reduce_sizes);
  if (arguments.kb_compat) choose_kernelbench_rules(app, options);
}

namespace {

std::string timing_help() {
  std::vector<std::string> rows;
  for (const TimingChoice& choice : timing_choices())
    rows.push_back(fmt::format("{}: {}", choice.name, choice.meaning));
  return fmt::format("{}", fmt::join(rows, "; "));
}

}  // namespace

void add_timing_options(CLI::App& app, EvalOptions& options, std::string& l2,
                        std::string_view measured) {
  app.option_defaults()->group(group::kTiming);
  app.add_option("--timing", options.timing, timing_help())
      ->type_name("METHOD")
      ->check(one_of(names_of(timing_choices())))
      ->capture_default_str();
  app.add_option("--l2", l2, "L2 cache before each timed call: cold or warm")
      ->type_name("STATE")
      ->check(one_of({"cold", "warm"}))
      ->capture_default_str();
  app.add_option("--timing-budget", options.timing_budget_s,
                 fmt::format("seconds of measuring per {}", measured))
      ->type_name("SECONDS")
      ->check(above_zero())
      ->capture_default_str();
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
  app.option_defaults()->group(group::kTiming);
  const std::string known = fmt::format("{}", fmt::join(names, ", "));
  app.add_option("--baseline", options.baselines,
                 candidates == BaselineCandidates::kAllowed
                     ? fmt::format("ways to run the reference, of {}; or candidate:PATH for other "
                                   "candidates; speedups are over the first (default: eager)",
                                   known)
                     : fmt::format("ways to run the reference, of {} (default: eager)", known))
      ->type_name("NAME[,…]")
      ->delimiter(',')
      ->check(CLI::Validator(check, fmt::format("{{{}}}", fmt::join(names, ","))))
      ->allow_extra_args(false);
}

void check_baselines(const EvalOptions& options) {
  const std::vector<std::string>& names = options.baselines;
  for (auto name = names.begin(); name != names.end(); ++name)
    if (std::find(names.begin(), name, *name) != name)
      throw UsageError(fmt::format("--baseline names {} twice", *name));
}

}  // namespace kbench::cli
