// SPDX-License-Identifier: MIT
#pragma once

#include <list>
#include <string>

#include "base/stopwatch.hpp"
#include "run/process/device_turns.hpp"
#include "run/schedule/ahead.hpp"

namespace kbench::run {

/// One queue of a device: judges candidates one after another, alongside the device's other queues.
/// For one thread.
class DeviceQueue {
 public:
  explicit DeviceQueue(QueueSetup setup);
  ~DeviceQueue();

  /// Judges a prepared candidate and completes its record. Candidates in `following` may be started
  /// meanwhile, while no time is taken. Raw measurements go into `details`. Throws Cancelled.
  void judge(Prepared& prepared, Following following, nlohmann::json& details);
  /// Releases the device. Call it before the queue waits for something that may depend on other
  /// queues.
  void rest();

 private:
  using OpenProblem = Ahead::OpenProblem;

  OpenProblem& open(const Prepared& prepared, bool draw_all = false);
  void open_early(const Prepared& prepared);
  void drop(const std::string& key);
  /// Closes the least recently used problem.
  void close_last();
  /// Acquires device memory for a problem (all of it if `alone`), and starts to work.
  void enter(const Prepared& prepared, bool alone);
  void wait_for_worker();
  void look_by_ncu(const Prepared& prepared, nlohmann::json& details);
  /// A file with the image of the judge's own kernels; -1 if there are none.
  int kernels_fd();
  /// `process`: the candidate's process, or null if it was not started yet.
  void evaluate(Prepared& prepared, const ReadyCode& code,
                std::unique_ptr<StartedCandidate> process, Following following,
                nlohmann::json& details, Phases& phases);
  bool has_company(bool alone) const;
  /// One attempt; if `alone`, with no other process on the device. False if memory was short but
  /// might suffice without other processes.
  bool evaluate_once(Prepared& prepared, const ReadyCode& code,
                     std::unique_ptr<StartedCandidate> process, bool alone, Following following,
                     nlohmann::json& details, Phases& phases);
  bool look_closer(Prepared& prepared, const ReadyCode& code, bool has_kernels, JudgeClient& judge,
                   nlohmann::json& details);
  void run_evaluation(Prepared& prepared, const ReadyCode& code, JudgeClient& judge,
                      StartedCandidate& candidate, RunAim aim, nlohmann::json& details);
  void take_verdict(Prepared& prepared, const protocol::Message& message,
                    StartedCandidate& candidate, nlohmann::json& details);

  QueueSetup setup_;
  QueueTurn turn_;  ///< outlives the open problems
  Fd kernels_;
  std::list<OpenProblem> open_;  ///< most recently used first
  Ahead ahead_;
  // Of the last verdict.
  Phases verdict_phases_;
  std::uint64_t free_bytes_ = 0;  ///< device memory at the time of the verdict
};

}  // namespace kbench::run
