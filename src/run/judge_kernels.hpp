// SPDX-License-Identifier: MIT
#pragma once

#include <future>
#include <string>

#include "kbench/compile.hpp"

namespace kbench::run {

/// What to compile for the judge's own kernels on that architecture; the one that flushes the L2 is
/// among them.
CompileRequest judge_kernels_request(const std::string& arch);
/// That one alone, for candidates' processes.
CompileRequest timing_kernels_request(const std::string& arch);

}  // namespace kbench::run
