// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kbench/run.hpp"
#include "os/installation.hpp"

namespace kbench {

/// What `kbench audit` was asked for.
struct AuditOptions {
  EvalOptions check;  ///< device, precision, trials, families, seed and sizes of the check
  double problem_limit_s = 600;  ///< to open a problem, and to ask it
  unsigned jobs = 1;             ///< problems at once on the CPU; a GPU has one
};

/// One audit: no candidate runs, a judge holds trivial answers against the check of each problem.
class AuditRun {
 public:
  /// As EvalRun's.
  AuditRun(Installation installation, AuditOptions options, Observer& observer, int cancel_fd);
  ~AuditRun();

  /// The header of the audit file: options and environment.
  RunHeader header(std::vector<std::string> arguments, std::string problem_set_hash);
  const std::string& secret() const;
  /// What is known of a problem before it is asked, its sizes included; its key decides what
  /// --resume skips. Throws run::Cancelled.
  ProblemAudit blank(const Problem& problem) const;

  /// Receives each problem's audit; called by one thread at a time.
  using Sink = std::function<void(ProblemAudit)>;
  /// Audits all problems. Returns false where it was cancelled.
  bool run(const std::vector<Problem>& problems, const Sink& sink);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kbench
