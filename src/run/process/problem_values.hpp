// SPDX-License-Identifier: MIT
#pragma once

#include <future>
#include <map>
#include <mutex>
#include <string>

#include "protocol/candidate_job.hpp"

namespace kbench::run {

class WorkerHost;

/// The values that candidates may read of their problems. A process without candidates' code
/// imports a problem's file and packs its values (worker/problem_values.hpp), once for each
/// problem, sizes and precision row. Thread-safe.
class ProblemValues {
 public:
  ProblemValues(WorkerHost& host, int cancel_fd) : host_(host), cancel_fd_(cancel_fd) {}

  /// Replaces the text, path and sizes of the job's problem by its values. By KernelBench's rules,
  /// candidates see everything that the file defines; then this only drops the folder from its
  /// path. The values are empty if the file fails; its judge reports why. Waits. Throws
  /// kbench::Error or Cancelled.
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
