// SPDX-License-Identifier: MIT
#pragma once

#include <list>
#include <string>

#include "base/stopwatch.hpp"
#include "run/process/device_turns.hpp"
#include "run/schedule/ahead.hpp"

namespace kbench::run {

/// One queue of a device: judges one candidate after another on it, beside the other lanes that the
/// device may have. For one thread.
class Lane {
 public:
  explicit Lane(LaneSetup setup);
  ~Lane();

  /// Judges a prepared candidate to its record; those that follow may be started meanwhile, as
  /// long as nothing is being timed. Raw measurements go into `details`. Throws Cancelled.
  void judge(Prepared& prepared, Following following, nlohmann::json& details);
  /// Before the lane waits for something that other lanes may have to do first.
  void rest();

 private:
  using OpenProblem = Ahead::OpenProblem;

  OpenProblem& open(const Prepared& prepared, bool draw_all = false);
  void open_early(const Prepared& prepared);
  void drop(const std::string& key);
  /// Closes the problem that was used longest ago.
  void close_last();
  /// Comes to hold the device's memory for a problem, all of it if `alone`, and to be at work.
  void enter(const Prepared& prepared, bool alone);
  void wait_for_worker();
  void look_by_ncu(const Prepared& prepared, nlohmann::json& details);
  /// The image of the judge's own kernels; -1 where there is none.
  int kernels_fd();
  /// `process` is the candidate's where it has been started already.
  void evaluate(Prepared& prepared, const ReadyCode& code,
                std::unique_ptr<StartedCandidate> process, Following following,
                nlohmann::json& details, Phases& phases);
  bool has_company(bool alone) const;
  /// Once, without anything beside it on the device if `alone`. False where memory did not suffice,
  /// and would perhaps have without the others.
  bool evaluate_once(Prepared& prepared, const ReadyCode& code,
                     std::unique_ptr<StartedCandidate> process, bool alone, Following following,
                     nlohmann::json& details, Phases& phases);
  bool look_closer(Prepared& prepared, const ReadyCode& code, JudgeClient& judge,
                   nlohmann::json& details);
  void run_evaluation(Prepared& prepared, const ReadyCode& code, JudgeClient& judge,
                      StartedCandidate& candidate, bool find_written_source,
                      nlohmann::json& details);
  void take_verdict(Prepared& prepared, const protocol::Message& message,
                    StartedCandidate& candidate, nlohmann::json& details);

  LaneSetup setup_;
  LaneTurn turn_;  ///< outlives what is open
  Fd kernels_;
  std::list<OpenProblem> open_;  ///< most recently used first
  Ahead ahead_;
  // Of the last verdict.
  Phases verdict_phases_;
  std::uint64_t free_bytes_ = 0;  ///< of the device's memory when it was given
};

}  // namespace kbench::run
