// SPDX-License-Identifier: MIT
#pragma once

#include <future>
#include <memory>
#include <string>
#include <string_view>

#include "compile/compile.hpp"
#include "os/installation.hpp"

namespace kbench::run {

/// kbench's own kernels on a GPU. Both invalid where there are none, as on the CPU.
struct OwnKernels {
  std::shared_ptr<CompilePool> pool;         ///< at work on them
  std::shared_future<CompileResult> judge;   ///< all of them
  std::shared_future<CompileResult> timing;  ///< those that candidates' processes have, too
};

/// Has them compiled for that architecture, in a pool of their own: they belong to the machine,
/// like the compiler's header, wait for no candidate's and have none of their limits.
OwnKernels compile_own_kernels(const Installation& installation, const std::string& arch);

/// The image, once it is there. Throws Cancelled, and kbench::Error where they did not compile:
/// without them inputs are not veiled and streams not held, and whoever knows that can cheat.
std::string_view own_image(const std::shared_future<CompileResult>& kernels, int cancel_fd);

}  // namespace kbench::run
