// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "kbench/run.hpp"
#include "os/installation.hpp"

namespace kbench::run {

/// Runs the CUDA kernels of a GPU run's candidates on the CPU executor as well, with all checks and
/// at reduced sizes. The executor sees races that a GPU's answer does not show. The processors do
/// this alongside the run, at low priority, and each record waits for its check.
class ExecutorChecks {
 public:
  /// `options`: those of the GPU run. Each problem of a candidate must be among `problems`, which
  /// outlive the checks. `deliver` takes the records, from several threads at once.
  ExecutorChecks(Installation installation, const EvalOptions& options,
                 const std::vector<Problem>& problems, int cancel_fd, EvalRun::Sink deliver);
  /// Delivers all records that still wait, without a check.
  ~ExecutorChecks();

  /// True if the executor can add to this verdict.
  static bool takes(const Candidate& candidate, const Record& record);
  /// Checks the candidate, and then delivers its record. Waits if many records wait already. Throws
  /// an error of `deliver`, also of an earlier record.
  void add(const Candidate& candidate, Record record, nlohmann::json details);
  /// Waits until all records are delivered. Throws an error of `deliver`. If the run is cancelled,
  /// unchecked records are dropped.
  void finish();

 private:
  struct Waiting {
    Candidate candidate;
    Record record;
    nlohmann::json details;
  };

  void serve();
  std::optional<Waiting> take();
  void deliver(Waiting done);

  const Installation installation_;
  EvalOptions options_;
  bool require_clean_;
  const std::vector<Problem>& problems_;
  int cancel_fd_;
  EvalRun::Sink deliver_;
  std::mutex mutex_;  ///< guards all below
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  bool closed_ = false, abandoned_ = false;
  std::size_t idle_ = 0;  ///< threads that wait for a record
  std::exception_ptr fault_;
  std::vector<std::thread> threads_;
};

/// Adds what the executor found to a GPU's record and details. `checked`: the executor's record of
/// the same candidate, at sizes at which its kernels may not work.
void add_checked(const Record& checked, const nlohmann::json& checked_details, bool require_clean,
                 Record& record, nlohmann::json& details);

}  // namespace kbench::run
