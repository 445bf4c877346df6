// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "os/device_probe.hpp"
#include "run/process/device_turns.hpp"
#include "run/process/judge_client.hpp"

namespace kbench::run {

/// Decides if a pool needs more items: yes once only `few` are left, and until there are `enough`.
class Refill {
 public:
  Refill(std::size_t few, std::size_t enough) : few_(few), enough_(enough) {}
  bool wants(std::size_t there) {
    if (there >= enough_) filling_ = false;
    if (there <= few_) filling_ = true;
    return filling_;
  }

 private:
  std::size_t few_, enough_;
  bool filling_ = true;
};

/// Warm processes on a GPU: judges without a problem, and candidates' processes without a
/// candidate. Opening the device and the libraries of most models takes longer than judging most
/// candidates, so the pool does it in parallel. It never opens a process while a time is taken.
/// That would not change times, but delay them. Thread-safe.
class WarmPool {
 public:
  /// Starts to open some of each kind for every device queue of `gpu`. The processes see no other
  /// GPU and call it `device` ("cuda:0"). Once few candidates' processes are left, several are
  /// opened together, because a queue that wants to take a time waits as long for several as for
  /// one. The device's memory limits their number. `turns`: the access to that device.
  WarmPool(WorkerHost& host, const GpuInfo& gpu, std::string device, DeviceTurns& turns,
           std::size_t device_queues, int cancel_fd);
  ~WarmPool();
  WarmPool(const WarmPool&) = delete;
  WarmPool& operator=(const WarmPool&) = delete;

  /// Takes a warm process. If none is ready: waits for one (`wait`), else returns null. Also null
  /// if the pool has failed; the caller then starts its own process and sees the error. A device
  /// queue that waits must not be working.
  std::unique_ptr<JudgeClient> take_judge(bool wait);
  std::unique_ptr<WarmCandidate> take_candidate(bool wait);

 private:
  template <typename Process>
  std::unique_ptr<Process> take(std::deque<std::unique_ptr<Process>>& ready, bool wait);
  void serve();
  void open_judge();
  void open_candidate();
  bool wants_judge() const { return judges_.size() + opening_judges_ < wanted_judges_; }
  bool wants_candidate() { return refill_.wants(candidates_.size() + opening_candidates_); }

  WorkerHost& host_;
  std::string device_, visible_gpu_;
  DeviceTurns& turns_;
  std::size_t wanted_judges_;
  Refill refill_;  ///< for candidates' processes
  int cancel_fd_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<JudgeClient>> judges_;
  std::deque<std::unique_ptr<WarmCandidate>> candidates_;
  std::size_t opening_judges_ = 0, opening_candidates_ = 0;
  bool stopped_ = false;
  int failures_ = 0;
  bool failed_ = false;  ///< the pool opens no more processes
  std::vector<std::thread> threads_;
};

}  // namespace kbench::run
