// SPDX-License-Identifier: MIT
#include "run/prepare/dry_import.hpp"

#include <algorithm>

#include "base/fd.hpp"
#include "kbench/error.hpp"

namespace kbench::run {
namespace {

using std::chrono::milliseconds;

/// How often a dry import is checked.
constexpr milliseconds kDryImportPeriod(200);
/// CPU time limit of a dry import and its descendants. Imports take a few seconds. A module that
/// needs longer to build continues when it is judged.
constexpr double kMostProcessorSeconds = 60;

/// Lists a process in AheadOfTurn while this object lives.
class Listed {
 public:
  Listed(AheadOfTurn& all, pid_t pid) : all_(all), pid_(pid) { all_.add(pid_); }
  ~Listed() { all_.remove(pid_); }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;

 private:
  AheadOfTurn& all_;
  pid_t pid_;
};

}  // namespace

DryImports::DryImports(WorkerHost& host, ExtensionBuilder& builder, unsigned at_once,
                       std::chrono::milliseconds limit, std::size_t memory_limit_bytes,
                       int cancel_fd)
    : host_(host),
      builder_(builder),
      limit_(limit),
      memory_limit_bytes_(memory_limit_bytes),
      cancel_fd_(cancel_fd),
      free_(std::max(at_once, 1U)) {}

std::shared_future<DryImported> DryImports::send(CandidateJob job) {
  job.module.dry_import = true;
  // On the device "cpu", "cuda" means the CPU. Code that first checks for a GPU thus continues to
  // its builds.
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

/// Serves tickets in the order in which they were sent, because device queues take candidates in
/// that order.
void DryImports::take_place(std::uint64_t ticket) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return free_ > 0 && ticket == serving_; });
  ++serving_;
  --free_;
  changed_.notify_all();
}

void DryImports::give_back() {
  const std::lock_guard lock(mutex_);
  ++free_;
  changed_.notify_all();
}

bool DryImports::takes_too_long(StartedCandidate& process) const {
  milliseconds used(0);
  while (used < limit_ && !is_readable(cancel_fd_)) {
    const bool counts = !host_.ahead_of_turn().is_stopped();
    const auto start = std::chrono::steady_clock::now();
    if (process.service()->wait_dry_imported(std::min(kDryImportPeriod, limit_ - used), cancel_fd_))
      return false;
    if (!counts) continue;
    used += std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start);
    if (processor_seconds(process.pid()) > kMostProcessorSeconds) return false;
  }
  return used >= limit_;  // else the run is cancelled
}

DryImported DryImports::run(CandidateJob job, std::uint64_t ticket) {
  take_place(ticket);
  std::unique_ptr<StartedCandidate> process;
  bool timed_out = true;
  try {
    process =
        std::make_unique<StartedCandidate>(host_, std::move(job), memory_limit_bytes_, &builder_);
    // A dry import may never end, but it has already requested its builds.
    const Listed listed(host_.ahead_of_turn(), process->pid());
    timed_out = takes_too_long(*process);
    process->finish(std::chrono::milliseconds(0));
  } catch (...) {
    give_back();
    throw;
  }
  // Frees the place before the compilers finish, because they have their own limit in parallel.
  give_back();
  if (const auto fault = process->service()->fault()) std::rethrow_exception(fault);
  return {process->service()->summary(), process->service()->dry_import_end(), timed_out,
          std::chrono::duration<double>(limit_).count()};
}

}  // namespace kbench::run
