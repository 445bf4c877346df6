// SPDX-License-Identifier: MIT
#include "run/eval_options.hpp"

#include <nlohmann/json.hpp>

#include "score/kernelbench.hpp"

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

const TimingMethod& method_of(const EvalOptions& options) {
  return *find_timing_method(options.timing);
}

protocol::TimeClock clock_of(const EvalOptions& options) {
  if (options.score == kWallScore) return protocol::TimeClock::kHost;
  if (options.score == kBusyScore) return protocol::TimeClock::kDevice;
  return method_of(options).clock;
}

std::string method_prefix(const EvalOptions& options) {
  switch (clock_of(options)) {
    case protocol::TimeClock::kDevice:
      return options.score == kBusyScore ? "cupti_busy" : "cupti";
    case protocol::TimeClock::kGate:
      return "gated";
    case protocol::TimeClock::kHost:
      return "wall";
    default:
      return "events";
  }
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
  if (options.score != kSpanScore) object["score"] = options.score;
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
