// SPDX-License-Identifier: MIT
#include <signal.h>

#include <algorithm>

#include "worker/device/host_tasks.hpp"
#include "worker/judge/evaluation.hpp"

// Stops a candidate's process while others are timed, and while the inputs of its own timed calls
// are drawn.
namespace kbench::worker {
namespace {

/// The limit of a stopped process's processor time, in total.
constexpr double kStillStopped_s = 0.001;
/// A process that does not stop may use this much processor time while the judge waits for it to
/// stop.
constexpr double kMostStopping_s = 0.01;

}  // namespace

void Evaluation::freeze(bool frozen) {
  if (frozen == frozen_ || request_.pid <= 0) return;
  frozen_ = frozen;
  if (!frozen && stopped_at_s_) {
    ran_stopped_s_ += std::max(processor_s(request_.pid).value_or(0) - *stopped_at_s_, 0.0);
    stopped_at_s_.reset();
  }
  kill(-request_.pid, frozen ? SIGSTOP : SIGCONT);
  if (!frozen || !has_host_code()) return;
  const Stopped stopped = wait_until_stopped(request_.pid);
  stopped_at_s_ = stopped.processor_s;
  if (stopped.went_on_s > kMostStopping_s) ran_stopped_s_ += stopped.went_on_s;
}

void Evaluation::refuse_running_stopped() const {
  if (ran_stopped_s_ < kStillStopped_s) return;
  throw CandidateFailure{Outcome::kCheat, "ran_while_stopped",
                         "the candidate's process ran while kbench had stopped it: its own code "
                         "must have continued it"};
}

}  // namespace kbench::worker
