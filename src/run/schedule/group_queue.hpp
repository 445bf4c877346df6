// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "run/prepare/prepare.hpp"

namespace kbench::run {

/// Passes groups of candidates, one for each problem, from the preparing thread to the device
/// queues. A group goes to one device queue, so each reference is computed only once.
class GroupQueue {
 public:
  void push(std::vector<Prepared*> group) {
    const std::lock_guard lock(mutex_);
    groups_.push_back(std::move(group));
    changed_.notify_one();
  }

  /// Ends the queue, because of `fault` if there is one.
  void close(std::exception_ptr fault) {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    fault_ = std::move(fault);
    changed_.notify_all();
  }

  /// The next group. Empty at the end, or if none is ready and `wait` is false. Rethrows the fault
  /// of close(), once.
  std::vector<Prepared*> take(bool wait) {
    std::unique_lock lock(mutex_);
    if (wait) changed_.wait(lock, [this] { return closed_ || !groups_.empty(); });
    if (fault_) std::rethrow_exception(std::exchange(fault_, nullptr));
    if (groups_.empty()) return {};
    auto group = std::move(groups_.front());
    groups_.pop_front();
    return group;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<Prepared*>> groups_;
  bool closed_ = false;
  std::exception_ptr fault_;
};

/// Waits for a thread at the end of a scope.
class Joined {
 public:
  explicit Joined(std::thread& thread) : thread_(thread) {}
  ~Joined() { thread_.join(); }
  Joined(const Joined&) = delete;
  Joined& operator=(const Joined&) = delete;

 private:
  std::thread& thread_;
};

}  // namespace kbench::run
