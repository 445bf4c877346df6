// SPDX-License-Identifier: MIT
#pragma once

#include <future>
#include <string>
#include <string_view>

#include "kbench/compile.hpp"

namespace kbench::run {

/// kbench's own kernels on a GPU. Both invalid where there are none, as on the CPU.
struct OwnKernels {
  std::shared_future<CompileResult> judge;   ///< all of them
  std::shared_future<CompileResult> timing;  ///< those that candidates' processes have, too
};

/// Has them compiled for that architecture, for as long as it takes: a limit is for candidates'.
OwnKernels compile_own_kernels(CompilePool& pool, const std::string& arch);

/// The image, once it is there. Throws Cancelled, and kbench::Error where they did not compile:
/// without them inputs are not veiled and streams not held, and whoever knows that can cheat.
std::string_view own_image(const std::shared_future<CompileResult>& kernels, int cancel_fd);

}  // namespace kbench::run
