// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ptx/random/cases.hpp"

namespace kbench::ptx::random {

/// What a comparison of many kernels on a GPU and in the executor came to.
struct Summary {
  std::string no_gpu;  ///< why nothing was compared
  std::string device;
  std::size_t compared = 0;
  std::uint64_t words = 0;
  std::vector<std::string> problems;          ///< one text per kernel that differs or does not run
  std::map<std::string, int> by_instruction;  ///< how many kernels differ, by what is at fault
  std::vector<std::string> driver_died;       ///< cases that the driver's compiler does not survive
  /// Kernels of which the GPU gives what the executor gives once they are assembled without
  /// optimisation: there the driver's compiler disagrees with itself.
  std::vector<std::string> optimized_away;
  std::vector<std::string> golden;  ///< lines, in the order of the cases
};

/// Compares in `jobs` processes, each with its own CUDA context, so that a kernel that breaks one
/// costs that kernel only. PTX and a description of each problem go into `folder`.
Summary compare(const std::vector<Case>& cases, unsigned jobs, bool want_golden,
                const std::string& folder);

}  // namespace kbench::ptx::random
