// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "kbench/run.hpp"

/// The meaning of a run's options for its records.
namespace kbench::run {

/// True if the run judges by KernelBench's rules.
bool by_kernelbench(const EvalOptions& options);
/// The row of `--precision` by its name in records.
std::string precision_of(const EvalOptions& options);
/// Record::judge of the run's verdicts.
const char* judge_of(const EvalOptions& options);
/// The options that change a verdict.
nlohmann::json options_json(const EvalOptions& options);

}  // namespace kbench::run
