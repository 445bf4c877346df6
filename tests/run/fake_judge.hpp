// SPDX-License-Identifier: MIT
// What the fake worker's processes share, and its judge.
#pragma once

#include <unistd.h>

#include <chrono>
#include <string>

#include "protocol/protocol.hpp"

namespace kbench::fake {

inline protocol::Clock::time_point later() {
  return protocol::Clock::now() + std::chrono::minutes(5);
}

[[noreturn]] inline void stay_forever() {
  while (true) ::pause();
}

/// "cuda:0 of GPU-2": a device, and the GPUs that this process may see.
std::string seen_gpu(const std::string& device);

/// Serves as a judge of that behaviour, the `index`th of its fork server; its exit code.
int serve_as_judge(protocol::Channel channel, const std::string& mode, int index);

}  // namespace kbench::fake
