// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "os/subprocess.hpp"

namespace kbench::worker {

/// The main function of a judge's process. Serves the driver's requests until the driver closes the
/// channel. Returns the exit code.
int judge_main(Fd channel, std::uint64_t nonce);

}  // namespace kbench::worker
