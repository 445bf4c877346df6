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

/// Says whether there are to be more of something: from where few are left until there are enough.
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

/// Processes that stand ready on a GPU: judges without a problem, candidates' processes without a
/// candidate. Opening the device and the libraries that most models call takes longer than judging
/// most candidates, so it happens beside that, and never while a time is taken: times would still
/// be right, but take longer to be known as well. Thread-safe.
class SparePool {
 public:
  /// Keeps some of each for every lane of `gpu`, which they see alone and call `device` ("cuda:0").
  /// Candidates' processes are opened several at a time, once few are left: who wants to take a
  /// time waits for that as long as for one, and more seldom. How many there are depends on the
  /// device's memory. Begins at once. `turns` are the device's.
  SparePool(WorkerHost& host, const GpuInfo& gpu, std::string device, DeviceTurns& turns,
            std::size_t lanes, int cancel_fd);
  ~SparePool();
  SparePool(const SparePool&) = delete;
  SparePool& operator=(const SparePool&) = delete;

  /// The next one, waiting while it opens if `wait`; null where none is or comes: whoever asks then
  /// starts one of its own, and meets what is wrong. A lane that waits must not be at work.
  std::unique_ptr<JudgeClient> take_judge(bool wait);
  std::unique_ptr<SpareCandidate> take_candidate(bool wait);

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
  Refill refill_;  ///< of candidates' processes
  int cancel_fd_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<JudgeClient>> judges_;
  std::deque<std::unique_ptr<SpareCandidate>> candidates_;
  std::size_t opening_judges_ = 0, opening_candidates_ = 0;
  bool stopped_ = false;
  int failures_ = 0;
  bool failed_ = false;  ///< nothing more will come
  std::vector<std::thread> threads_;
};

}  // namespace kbench::run
