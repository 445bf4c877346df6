// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "os/subprocess.hpp"

namespace kbench::worker {

/// The life of a judge's process: serves kDescribe, kOpenProblem, kEvaluate and kProbe on its
/// channel to the driver until the driver hangs up. Returns the exit code.
int judge_main(Fd channel, std::uint64_t nonce);

}  // namespace kbench::worker
