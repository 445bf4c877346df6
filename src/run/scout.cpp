// SPDX-License-Identifier: MIT
#include "run/scout.hpp"

#include <algorithm>

#include "kbench/error.hpp"

namespace kbench::run {

Scouts::Scouts(WorkerHost& host, ExtensionBuilder& builder, unsigned at_once,
               std::chrono::milliseconds limit, std::size_t memory_limit_bytes, int cancel_fd)
    : host_(host),
      builder_(builder),
      limit_(limit),
      memory_limit_bytes_(memory_limit_bytes),
      cancel_fd_(cancel_fd),
      free_(std::max(at_once, 1U)) {}

std::shared_future<Scouted> Scouts::send(CandidateJob job) {
  job.module.scout = true;
  // Where "cuda" means the CPU, code that looks at its GPU first goes on to what it wants built.
  job.device = "cpu";
  std::uint64_t ticket = 0;
  {
    const std::lock_guard lock(mutex_);
    ticket = next_ticket_++;
  }
  return std::async(
             std::launch::async,
             [this, ticket, job = std::move(job)]() mutable { return run(std::move(job), ticket); })
      .share();
}

/// In the order of sending: what a lane takes first is ready first.
void Scouts::take_place(std::uint64_t ticket) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return free_ > 0 && ticket == serving_; });
  ++serving_;
  --free_;
  changed_.notify_all();
}

void Scouts::give_back() {
  const std::lock_guard lock(mutex_);
  ++free_;
  changed_.notify_all();
}

Scouted Scouts::run(CandidateJob job, std::uint64_t ticket) {
  take_place(ticket);
  std::unique_ptr<StartedCandidate> process;
  bool ended = false;
  try {
    process =
        std::make_unique<StartedCandidate>(host_, std::move(job), memory_limit_bytes_, &builder_);
    // One that never ends has ordered what it was going to order.
    ended = process->service()->wait_scouted(limit_, cancel_fd_);
    process->finish(std::chrono::milliseconds(0));
  } catch (...) {
    give_back();
    throw;
  }
  // The compilers keep their own number.
  give_back();
  if (const auto fault = process->service()->fault()) std::rethrow_exception(fault);
  return {process->service()->summary(), process->service()->scout_end(), !ended};
}

}  // namespace kbench::run
