// SPDX-License-Identifier: MIT
#pragma once

#include <future>
#include <map>
#include <mutex>
#include <string>

#include "protocol/candidate_job.hpp"

namespace kbench::run {

class WorkerHost;

/// What candidates may know of their problems. A process that runs no candidate's code imports a
/// problem's file and packs its values (worker/problem_values.hpp): once for each problem, sizes
/// and precision row. Thread-safe.
class ProblemValues {
 public:
  ProblemValues(WorkerHost& host, int cancel_fd) : host_(host), cancel_fd_(cancel_fd) {}

  /// Puts the values of the job's problem in the place of its text, its path and its sizes; by
  /// KernelBench's rules, where candidates find all that the file defines, in that of its folder.
  /// There are none where the file fails: its judge says how. Waits. Throws kbench::Error or
  /// Cancelled.
  void put_into(ModuleJob& job, CandidateKind kind);

 private:
  std::string values_of(const ModuleJob& job);
  std::string evaluate(const std::string& request);

  WorkerHost& host_;
  int cancel_fd_;
  std::mutex mutex_;
  std::map<std::string, std::shared_future<std::string>> known_;  ///< by hash of the request
};

}  // namespace kbench::run
