// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "run/device_turns.hpp"
#include "run/judge_client.hpp"

namespace kbench::run {

/// Processes that stand ready on a GPU: judges without a problem, candidates' processes without a
/// candidate. Opening the device and the libraries that most models call takes longer than judging
/// most candidates, so it happens beside that, and never while a time is taken: times would still
/// be right, but take longer to be known as well. Thread-safe.
class SparePool {
 public:
  /// Keeps so many of each for every lane of `device` ("cuda:N"), and opens one for each lane at a
  /// time. Begins at once. `turns` are the device's.
  SparePool(WorkerHost& host, std::string device, DeviceTurns& turns, std::size_t lanes,
            int cancel_fd);
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
  bool wants_candidate() const {
    return candidates_.size() + opening_candidates_ < wanted_candidates_;
  }

  WorkerHost& host_;
  std::string device_;
  DeviceTurns& turns_;
  std::size_t wanted_judges_, wanted_candidates_;
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
