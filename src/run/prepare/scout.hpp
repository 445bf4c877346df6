// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <future>
#include <mutex>

#include "run/prepare/prepare.hpp"
#include "run/process/judge_client.hpp"

namespace kbench::run {

/// Imports modules ahead of the device, several at once, in processes that have no GPU: what they
/// want built is built by the time that a device is free for them. They have a low priority, stand
/// still while times are taken, and have limits of time (without that) and of processor seconds.
class Scouts {
 public:
  /// `at_once` processes; each may take `limit` and `memory_limit_bytes`.
  Scouts(WorkerHost& host, ExtensionBuilder& builder, unsigned at_once,
         std::chrono::milliseconds limit, std::size_t memory_limit_bytes, int cancel_fd);

  /// Sends a module's job ahead. A fault of the machine arrives as kbench::Error in the future.
  std::shared_future<Scouted> send(CandidateJob job);

 private:
  Scouted run(CandidateJob job, std::uint64_t ticket);
  /// Waits for a scout's end; whether its time was over before. One that has used up its processor
  /// seconds has ordered what it was going to order.
  bool takes_too_long(StartedCandidate& process) const;
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
