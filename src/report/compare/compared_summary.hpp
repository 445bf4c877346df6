// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "report/compare/comparison.hpp"

namespace kbench::report {

/// One line on a run: devices, versions, numbers of records, problems and models, run id and time.
std::string run_summary(const RunFile& run);

/// Warnings on a run's file, with the number of planned samples that have no verdict.
std::vector<std::string> run_warnings(const RunFile& run);

/// Warnings that a reader needs before the numbers of two runs: different devices or timing.
std::vector<std::string> pair_notes(const ComparedRun& base, const ComparedRun& other);

/// True if both ran on a CPU.
bool are_of_a_cpu(const RunFile& base, const RunFile& other);

/// The reason why no times of the two runs can be compared; empty if they can.
std::string unlike_runs(const RunFile& base, const RunFile& other);

}  // namespace kbench::report
