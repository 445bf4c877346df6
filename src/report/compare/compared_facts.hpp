// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "report/compare/comparison.hpp"

namespace kbench::report {

/// One line on a run: devices, versions, how much there is, when it was.
std::string run_facts(const RunFile& run);

/// What is missing in a run's file.
std::vector<std::string> run_warnings(const RunFile& run);

/// What the reader has to know of two runs before their numbers: other devices, other timing.
std::vector<std::string> pair_notes(const ComparedRun& base, const ComparedRun& other);

/// Whether both ran on a CPU.
bool are_of_a_cpu(const RunFile& base, const RunFile& other);

/// Why no times of the two runs may be compared; empty where they may.
std::string unlike_runs(const RunFile& base, const RunFile& other);

}  // namespace kbench::report
