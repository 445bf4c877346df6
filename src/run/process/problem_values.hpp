// SPDX-License-Identifier: MIT
#pragma once

#include <future>
#include <map>
#include <mutex>
#include <string>

#include "protocol/candidate_job.hpp"

namespace kbench::run {

class WorkerHost;

/// The values that candidates may read of their problems. A process without any candidate's code
/// imports a problem's file and packs its values (worker/problem_values.hpp), once for each
/// problem, sizes and precision row. Thread-safe.
class ProblemValues {
 public:
  ProblemValues(WorkerHost& host, int cancel_fd) : host_(host), cancel_fd_(cancel_fd) {}

  /// Replaces the text, path and sizes of the job's problem by its values, and waits for these. By
  /// KernelBench's rules, candidates see everything that the file defines, so only the folder in
  /// its path is dropped. If the file fails, the values are empty, and the judge reports why.
  /// Throws kbench::Error or Cancelled.
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
