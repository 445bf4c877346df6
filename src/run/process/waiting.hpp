// SPDX-License-Identifier: MIT
#pragma once

#include <poll.h>

#include <chrono>
#include <future>

#include "run/process/worker_host.hpp"

namespace kbench::run {

/// Returns when the future is ready. Throws Cancelled if `cancel_fd` becomes readable first.
template <typename T>
void wait_for(const std::shared_future<T>& future, int cancel_fd) {
  while (future.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
    pollfd cancel{cancel_fd, POLLIN, 0};
    if (poll(&cancel, 1, 0) > 0) throw Cancelled{};
  }
}

}  // namespace kbench::run
