// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <future>

#include "base/fd.hpp"
#include "run/process/worker_host.hpp"

namespace kbench::run {

/// Returns when the future is ready. Throws Cancelled if `cancel_fd` becomes readable first.
template <typename T>
void wait_for(const std::shared_future<T>& future, int cancel_fd) {
  while (future.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
    if (is_readable(cancel_fd)) throw Cancelled{};
  }
}

}  // namespace kbench::run
