// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "os/subprocess.hpp"
#include "worker/reference/problem_host.hpp"

/// A candidate's process gets only values of its problem (problem_values.py). No process that runs
/// a candidate's code ever has the problem's text.
namespace kbench::worker {

/// The main function of a process that imports a problem and packs the values that a candidate may
/// know. Reads the problem (as for a kDescribe) from `request` and writes the packed values to
/// `result`. Returns the exit code.
int problem_values_main(Fd result, Fd request);

/// The packed arguments that a constructor gets under an init seed.
struct PackedArguments {
  Fd file;
  bool is_whole = true;  ///< false: some values could not be packed as they are
};
/// Throws ProblemFailure.
PackedArguments pack_init_arguments(const ProblemHost& problem, const std::string& device,
                                    const std::string& precision, std::uint64_t seed);

}  // namespace kbench::worker
