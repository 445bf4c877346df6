// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "os/subprocess.hpp"
#include "worker/reference/problem_host.hpp"

/// What a candidate's process gets of its problem: values (problem_values.py). No process that runs
/// a candidate's code has had the problem's text.
namespace kbench::worker {

/// The life of a process that imports a problem to tell what a candidate may know of it: reads the
/// problem (as for a kDescribe) from `request`, writes the packed values to `result`. Returns the
/// exit code.
int problem_values_main(Fd result, Fd request);

/// What a constructor gets under an init seed, packed.
struct PackedArguments {
  Fd file;
  bool is_whole = true;  ///< false: something in them could not be sent as it is
};
/// Throws ProblemFailure.
PackedArguments pack_init_arguments(const ProblemHost& problem, const std::string& device,
                                    const std::string& precision, std::uint64_t seed);

}  // namespace kbench::worker
