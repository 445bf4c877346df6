// SPDX-License-Identifier: MIT
#include "run/eval_options.hpp"

#include <nlohmann/json.hpp>

#include "score/kernelbench.hpp"

namespace kbench {
namespace {

constexpr const char* kUntimed = "none";

constexpr TimingChoice kTimingChoices[] = {
    {"auto", "the judge's own clock; on a GPU, without launch costs if calls can be queued"},
    {kUntimed, "correctness only"},
};

}  // namespace

std::span<const TimingChoice> timing_choices() { return kTimingChoices; }

bool is_timed(const EvalOptions& options) { return options.timing != kUntimed; }

}  // namespace kbench

namespace kbench::run {

using nlohmann::json;

bool by_kernelbench(const EvalOptions& options) {
  return kernelbench_row(options.precision) != nullptr;
}

std::string precision_of(const EvalOptions& options) {
  const auto* row = kernelbench_row(options.precision);
  return row != nullptr ? std::string(row->precision) : options.precision;
}

const char* judge_of(const EvalOptions& options) {
  if (by_kernelbench(options)) return kCompatJudge;
  return options.eval_mode ? kEvalModeJudge : kOwnJudge;
}

json options_json(const EvalOptions& options) {
  json object{{"precision", precision_of(options)},
              {"judge", judge_of(options)},
              {"baselines", options.baselines},
              {"trials", options.trials},
              {"timing", options.timing},
              {"l2", options.cold_cache ? "cold" : "warm"},
              {"seed", by_kernelbench(options) ? "kernelbench"
                       : options.seed          ? "public"
                                               : "secret"},
              {"sizes", options.overrides},
              {"compile_limit_s", options.compile_limit_s},
              {"nvcc_limit_s", options.nvcc_limit_s},
              {"load_limit_s", options.load_limit_s},
              {"call_limit_s", options.call_limit_s},
              {"timing_budget_s", options.timing_budget_s},
              {"sanitize", options.sanitize},
              {"max_instructions", options.max_instructions},
              {"require", json::array()},
              {"profile", options.profile ? json(options.estimate_for) : json()}};
  if (!options.ncu.empty()) object["ncu"] = true;
  if (options.require_clean) object["require"].push_back("clean");
  if (options.require_own) object["require"].push_back("own-kernels");
  if (options.eval_mode) object["eval_mode"] = true;
  if (!options.distributions) object["distributions"] = false;
  if (!options.baseline_files.empty()) object["baseline_files"] = options.baseline_files;
  if (options.all_trials) object["all_trials"] = true;
  if (!options.other_sizes.empty()) object["other_sizes"] = options.other_sizes;
  if (!options.sandbox) object["sandbox"] = false;
  if (!options.entry.empty()) object["entry"] = options.entry;
  return object;
}

}  // namespace kbench::run
