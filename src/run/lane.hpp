// SPDX-License-Identifier: MIT
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>

#include "kbench/compile.hpp"
#include "kbench/run.hpp"
#include "kbench/stopwatch.hpp"
#include "run/judge_client.hpp"
#include "run/prepare.hpp"

namespace kbench::run {

/// What a lane needs to know of its run.
struct LaneSetup {
  WorkerHost* host = nullptr;
  ExtensionBuilder* builder = nullptr;  ///< for what modules ask for while they run
  LaneDevice device;
  const EvalOptions* options = nullptr;
  std::string secret;
  /// The judge's own kernels for this device; invalid where it works without.
  std::shared_future<CompileResult> judge_kernels;
  std::size_t kept_judges = 1;         ///< references kept warm at once
  std::size_t memory_limit_bytes = 0;  ///< resident memory of a candidate
  int cancel_fd = -1;
};

/// The problem as the judge is told of it, for describing alone and for judging.
nlohmann::json describe_request(const Problem& problem, const Sizes& sizes,
                                const std::string& precision);

/// One device's queue: judges one candidate after another on it. For one thread.
class Lane {
 public:
  explicit Lane(LaneSetup setup);
  ~Lane();

  /// Judges a prepared candidate to its record; `next` (or nullptr) may be started meanwhile, as
  /// long as nothing is being timed. Raw measurements go into `details`. Throws Cancelled.
  void judge(Prepared& prepared, Prepared* next, nlohmann::json& details);

 private:
  struct OpenProblem {
    std::string key;  ///< problem and sizes
    std::unique_ptr<JudgeClient> judge;
    std::optional<ProblemFault> failure;
  };

  OpenProblem& open(const Prepared& prepared);
  void open_early(const Prepared& prepared);
  void drop(const std::string& key);
  void wait_for_worker();
  void prepare_spare();
  /// The image of the judge's own kernels; -1 where there is none.
  int kernels_fd();
  void wait_until_quiet();
  std::optional<ReadyCode> ready_code(Prepared& prepared) const;
  std::unique_ptr<StartedCandidate> start(const ReadyCode& code, bool sources_writable);
  void start_ahead(Prepared* next);
  void evaluate(Prepared& prepared, const ReadyCode& code, Prepared* next, nlohmann::json& details,
                Phases& phases);
  bool look_closer(Prepared& prepared, const ReadyCode& code, JudgeClient& judge,
                   nlohmann::json& details);
  void run_evaluation(Prepared& prepared, const ReadyCode& code, JudgeClient& judge,
                      StartedCandidate& candidate, bool find_written_source,
                      nlohmann::json& details);
  void take_verdict(Prepared& prepared, const protocol::Message& message,
                    StartedCandidate& candidate, nlohmann::json& details);

  LaneSetup setup_;
  Fd kernels_;
  std::list<OpenProblem> open_;         ///< most recently used first
  Phases verdict_phases_;               ///< of the last verdict
  std::unique_ptr<JudgeClient> spare_;  ///< opens the device for the next problem
  /// The candidate that was started ahead, with its code.
  const Prepared* ahead_for_ = nullptr;
  std::optional<ReadyCode> ahead_code_;
  std::unique_ptr<StartedCandidate> ahead_;
};

}  // namespace kbench::run
