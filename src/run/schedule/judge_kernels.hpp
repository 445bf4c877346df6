// SPDX-License-Identifier: MIT
#pragma once

#include <future>
#include <memory>
#include <string>
#include <string_view>

#include "compile/compile.hpp"
#include "os/installation.hpp"

namespace kbench::run {

/// kbench's own kernels for a GPU. Both futures are invalid if there are none, as on the CPU.
struct OwnKernels {
  std::shared_ptr<CompilePool> pool;         ///< compiles them
  std::shared_future<CompileResult> judge;   ///< all of them
  std::shared_future<CompileResult> timing;  ///< those that candidates' processes also load
};

/// Starts to compile kbench's own kernels for that architecture. They have their own pool, so they
/// neither wait for candidates nor have their limits.
OwnKernels compile_own_kernels(const Installation& installation, const std::string& arch);

/// Waits for the image. Throws Cancelled, and kbench::Error if the kernels did not compile: without
/// them, inputs would not be encrypted and streams not blocked, so a candidate could cheat.
std::string_view own_image(const std::shared_future<CompileResult>& kernels, int cancel_fd);

}  // namespace kbench::run
