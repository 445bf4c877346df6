// SPDX-License-Identifier: MIT
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <thread>

#include "worker/evaluation.hpp"
#include "worker/host_tasks.hpp"

// A candidate's process is stopped while others are timed, and while the inputs of its own timed
// calls are made.
namespace kbench::worker {
namespace {

/// Of a processor all that a process uses while it is stopped, over all times, is less than this.
constexpr double kStillStopped_s = 0.0005;
/// After a SIGSTOP its threads come to stop within that, however many wait for a processor, and of
/// one that never does this is the most that it may use meanwhile.
constexpr auto kStopping = std::chrono::milliseconds(500);
constexpr double kMostStopping_s = 0.01;

/// Seconds that all threads of a process have run; none where the kernel does not tell.
std::optional<double> processor_s(pid_t pid) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
    return std::nullopt;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Seconds that all threads have run when they have stopped; `ran_s` is what those that do not
/// stop have used since they were told to.
std::optional<double> stopped_processor_s(pid_t pid, double& ran_s) {
  const auto deadline = protocol::Clock::now() + kStopping;
  const auto first = processor_s(pid);
  while (!has_stopped(pid)) {
    if (protocol::Clock::now() > deadline) {
      const auto last = processor_s(pid);
      if (first && last) ran_s = *last - *first;
      return last;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return processor_s(pid);
}

}  // namespace

void Evaluation::freeze(bool frozen) {
  if (frozen == frozen_ || request_.pid <= 0) return;
  frozen_ = frozen;
  if (!frozen && stopped_at_s_) {
    ran_stopped_s_ += std::max(processor_s(request_.pid).value_or(0) - *stopped_at_s_, 0.0);
    stopped_at_s_.reset();
  }
  kill(-request_.pid, frozen ? SIGSTOP : SIGCONT);
  if (!frozen || !tells_its_times()) return;
  double ran_s = 0;
  stopped_at_s_ = stopped_processor_s(request_.pid, ran_s);
  if (ran_s > kMostStopping_s) ran_stopped_s_ += ran_s;
}

void Evaluation::refuse_running_stopped() const {
  if (ran_stopped_s_ < kStillStopped_s) return;
  throw CandidateFailure{Outcome::kCheat, "ran_while_stopped",
                         "its process went on while it was stopped: it has been continued by "
                         "something of its own"};
}

}  // namespace kbench::worker
