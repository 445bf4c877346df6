// SPDX-License-Identifier: MIT
#include "run/process/warm_pool.hpp"

#include <algorithm>

#include "kbench/error.hpp"
#include "os/device_probe.hpp"

namespace kbench::run {
namespace {

/// Numbers of warm processes for each device queue. Each process uses half a gigabyte of GPU
/// memory. Together, candidates' processes use at most 1 / kShareOfMemory of the GPU's memory.
constexpr std::size_t kJudges = 1, kMostCandidates = 4, kFewestCandidates = 2;
constexpr std::uint64_t kSpareBytes = std::uint64_t{512} << 20, kShareOfMemory = 16;
/// The pool opens more if only this many are left for each queue. On an H200, opening three
/// together takes 0.63 s and opening two 0.53 s; a queue waits for them 0.08 s per candidate.
constexpr std::size_t kFew = 1;

std::size_t candidates_on(const GpuInfo& gpu, std::size_t device_queues) {
  const auto room = static_cast<std::size_t>(gpu.memory_bytes / kShareOfMemory / kSpareBytes);
  return std::clamp(room / device_queues, kFewestCandidates, kMostCandidates);
}
/// After this many failures in a row the pool stops trying.
constexpr int kMostFailures = 3;

}  // namespace

WarmPool::WarmPool(WorkerHost& host, const GpuInfo& gpu, std::string device, DeviceTurns& turns,
                   std::size_t device_queues, int cancel_fd)
    : host_(host),
      device_(std::move(device)),
      visible_gpu_(gpu.uuid),
      turns_(turns),
      wanted_judges_(kJudges * device_queues),
      refill_(kFew * device_queues, candidates_on(gpu, device_queues) * device_queues),
      cancel_fd_(cancel_fd) {
  for (std::size_t i = 0; i < (candidates_on(gpu, device_queues) - kFew) * device_queues; ++i)
    threads_.emplace_back([this] { serve(); });
}

WarmPool::~WarmPool() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
  // Kills all before waiting for any, because the device needs time to close each process.
  for (const auto& judge : judges_) judge->end();
  for (const auto& candidate : candidates_) candidate->end();
}

void WarmPool::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock,
                  [this] { return stopped_ || failed_ || wants_judge() || wants_candidate(); });
    if (stopped_ || failed_) return;
    // A judge has priority, because it must draw its problem before a candidate's process is
    // needed.
    const bool judge =
        wants_judge() && (judges_.size() + opening_judges_ == 0 || !wants_candidate());
    std::size_t& opening = judge ? opening_judges_ : opening_candidates_;
    ++opening;
    lock.unlock();
    bool opened = false;
    bool cancelled = false;
    QueueTurn turn(turns_);
    turn.work();
    try {
      judge ? open_judge() : open_candidate();
      opened = true;
    } catch (const Error&) {
      // The device's memory may be full for a short time.
    } catch (const Cancelled&) {
      cancelled = true;
    }
    turn.rest();
    lock.lock();
    --opening;
    failures_ = opened ? 0 : failures_ + 1;
    failed_ = failed_ || cancelled || failures_ >= kMostFailures;
    changed_.notify_all();
    if (failed_) return;
  }
}

void WarmPool::open_judge() {
  auto judge = std::make_unique<JudgeClient>(host_, cancel_fd_, visible_gpu_);
  judge->warm(device_);
  if (!judge->wait_warm(host_.limits().settle))
    throw Error("a warm judge did not open its device in time");
  const std::lock_guard lock(mutex_);
  judges_.push_back(std::move(judge));
}

void WarmPool::open_candidate() {
  auto candidate = std::make_unique<WarmCandidate>(host_, device_, visible_gpu_);
  candidate->wait_warm(host_.limits().settle, cancel_fd_);
  const std::lock_guard lock(mutex_);
  candidates_.push_back(std::move(candidate));
}

template <typename Process>
std::unique_ptr<Process> WarmPool::take(std::deque<std::unique_ptr<Process>>& ready, bool wait) {
  std::unique_lock lock(mutex_);
  if (wait) changed_.wait(lock, [&] { return failed_ || !ready.empty(); });
  if (ready.empty()) return nullptr;
  auto process = std::move(ready.front());
  ready.pop_front();
  changed_.notify_all();
  return process;
}

std::unique_ptr<JudgeClient> WarmPool::take_judge(bool wait) { return take(judges_, wait); }

std::unique_ptr<WarmCandidate> WarmPool::take_candidate(bool wait) {
  return take(candidates_, wait);
}

}  // namespace kbench::run
