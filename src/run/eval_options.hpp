// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "kbench/run.hpp"
#include "protocol/protocol.hpp"
#include "protocol/timing_method.hpp"

/// The meaning of a run's options for its records.
namespace kbench::run {

/// True if the run judges by KernelBench's rules.
bool by_kernelbench(const EvalOptions& options);
/// The row of `--precision` by its name in records.
std::string precision_of(const EvalOptions& options);
/// The row of `--timing`.
const TimingMethod& method_of(const EvalOptions& options);
/// The clock that times calls on a GPU. `--score` may need another clock than the timing method's.
protocol::TimeClock clock_of(const EvalOptions& options);
/// The prefix of `method` in records of timings on a GPU: "events", "cupti_busy".
std::string method_prefix(const EvalOptions& options);
/// Record::judge of the run's verdicts.
const char* judge_of(const EvalOptions& options);
/// The options that change a verdict.
nlohmann::json options_json(const EvalOptions& options);

}  // namespace kbench::run
