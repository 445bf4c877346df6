// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <future>
#include <mutex>

#include "run/prepare/prepare.hpp"
#include "run/process/judge_client.hpp"

namespace kbench::run {

/// Dry imports: import modules in parallel, in processes without a GPU, so that their extensions
/// are built by the time a device is free. The processes have a low priority and are stopped while
/// times are taken. They have limits of CPU time, and of wall time while not stopped.
class DryImports {
 public:
  /// `at_once`: processes in parallel. `limit` and `memory_limit_bytes` apply to each.
  DryImports(WorkerHost& host, ExtensionBuilder& builder, unsigned at_once,
             std::chrono::milliseconds limit, std::size_t memory_limit_bytes, int cancel_fd);

  /// Starts the dry import of a module's job. The future throws kbench::Error for a fault of the
  /// machine.
  std::shared_future<DryImported> send(CandidateJob job);

 private:
  DryImported run(CandidateJob job, std::uint64_t ticket);
  /// Waits for the end of a dry import; true if it reached its time limit. At its CPU limit the
  /// result is false, because it has requested its builds by then.
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
