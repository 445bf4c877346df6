// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kbench/run.hpp"
#include "os/installation.hpp"

namespace kbench {

/// The options of `kbench audit`.
struct AuditOptions {
  EvalOptions check;             ///< device, precision, trials, distributions, seed and sizes
  double problem_limit_s = 600;  ///< for opening a problem, and for checking it
  unsigned jobs = 1;             ///< problems in parallel on the CPU; one on a GPU
};

/// One audit: a judge tests trivial answers with the check of each problem. No candidate runs.
class AuditRun {
 public:
  /// The same as for EvalRun.
  AuditRun(Installation installation, AuditOptions options, Observer& observer, int cancel_fd);
  ~AuditRun();

  /// The header of the audit file: options and environment.
  RunHeader header(std::vector<std::string> arguments, std::string problem_set_hash);
  const std::string& secret() const;
  /// A problem's audit before its check, with its sizes. Its key decides what --resume skips.
  /// Throws run::Cancelled.
  ProblemAudit blank(const Problem& problem) const;

  /// Receives each problem's audit; called by one thread at a time.
  using Sink = std::function<void(ProblemAudit)>;
  /// Audits all problems. Returns false if it was cancelled.
  bool run(const std::vector<Problem>& problems, const Sink& sink);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kbench
