// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

namespace kbench::worker {

/// A lock that a signal handler may wait for, because its holder touches no memory that can fault.
class SpinLock {
 public:
  void lock() {
    while (flag_.test_and_set(std::memory_order_acquire)) {
    }
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_;
};

}  // namespace kbench::worker
