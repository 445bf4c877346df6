// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "kbench/run.hpp"
#include "protocol/protocol.hpp"
#include "protocol/timing_method.hpp"

/// What the options of a run mean for its records.
namespace kbench::run {

/// Whether it judges by KernelBench's rules.
bool by_kernelbench(const EvalOptions& options);
/// As records have it: the row of `--precision`.
std::string precision_of(const EvalOptions& options);
/// The row of `--timing`.
const TimingMethod& method_of(const EvalOptions& options);
/// By what calls on a GPU are timed: `--score` may want another clock than the method's.
protocol::TimeClock clock_of(const EvalOptions& options);
/// What the methods of its records on a GPU begin with: "events", "cupti_busy".
std::string method_prefix(const EvalOptions& options);
/// Record::judge of its verdicts.
const char* judge_of(const EvalOptions& options);
/// The options that change a verdict.
nlohmann::json options_json(const EvalOptions& options);

}  // namespace kbench::run
