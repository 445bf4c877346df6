// SPDX-License-Identifier: MIT
#pragma once

#include "kbench/run_file.hpp"

/// Audits that several tests start from; they match samples::correct().
namespace kbench::samples {

inline ProblemAudit healthy(const char* problem) {
  ProblemAudit audit;
  audit.problem = problem;
  audit.level = 1;
  audit.problem_hash = "p0";
  audit.options_hash = "o0";
  audit.judge_hash = "j0";
  audit.device = "NVIDIA H200";
  audit.torch = "2.11.0+cu130";
  audit.sizes = R"j({"rows":"64"})j";
  audit.outcome = AuditOutcome::kHealthy;
  AuditAnswer caught;
  caught.passes = false;
  caught.caught_by = "trial 0";
  caught.max_rel_error = 0.5;
  caught.allclose_at = 0.25;
  AuditAnswer none;
  none.why = "no input has an output's type and number of elements";
  audit.answers = {{"zeros", caught}, {"input", none}};
  audit.distributions_left_out = {{"nan", "the reference is not finite"}};
  audit.seconds = 0.5;
  return audit;
}

inline ProblemAudit degenerate(const char* problem) {
  ProblemAudit audit = healthy(problem);
  audit.outcome = AuditOutcome::kDegenerate;
  AuditAnswer passes;
  passes.passes = true;
  passes.max_rel_error = passes.allclose_at = 0;
  audit.answers["input"] = passes;
  passes.max_rel_error = 6e-5;
  passes.would_be_caught_by = "signed";
  passes.tolerance = 5e-5;
  audit.answers["zeros"] = passes;
  return audit;
}

inline ProblemAudit failed_audit(const char* problem) {
  ProblemAudit audit = healthy(problem);
  audit.outcome = AuditOutcome::kProblemFailure;
  audit.cause = "reference_raised";
  audit.message = "the reference raises NameError";
  audit.answers.clear();
  return audit;
}

}  // namespace kbench::samples
