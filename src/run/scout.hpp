// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <future>
#include <mutex>

#include "run/judge_client.hpp"
#include "run/prepare.hpp"

namespace kbench::run {

/// Imports modules ahead of the device, several at once, in processes that have no GPU: what they
/// want built is built by the time that a device is free for them. They get the processors that
/// nothing else wants, stand still while times are taken, and have limits of time and of processor
/// seconds, in which that does not count.
class Scouts {
 public:
  /// `at_once` processes; each may take `limit` and `memory_limit_bytes`.
  Scouts(WorkerHost& host, ExtensionBuilder& builder, unsigned at_once,
         std::chrono::milliseconds limit, std::size_t memory_limit_bytes, int cancel_fd);

  /// Sends a module's job ahead. A fault of the machine arrives as kbench::Error in the future.
  std::shared_future<Scouted> send(CandidateJob job);

 private:
  Scouted run(CandidateJob job, std::uint64_t ticket);
  /// Whether a scout has come to its end within its limits.
  bool wait_for(StartedCandidate& process) const;
  void take_place(std::uint64_t ticket);
  void give_back();

  WorkerHost& host_;
  ExtensionBuilder& builder_;
  std::chrono::milliseconds limit_;
  std::size_t memory_limit_bytes_;
  int cancel_fd_;
  std::mutex mutex_;
  std::condition_variable changed_;
  unsigned free_;
  std::uint64_t next_ticket_ = 0, serving_ = 0;
};

}  // namespace kbench::run
