// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kbench/run_file.hpp"
#include "worker/reference/judged_problem.hpp"
#include "worker/reference/judging.hpp"
#include "worker/reference/trivial_answers.hpp"

namespace kbench::worker {

/// Judges trivial answers by the check that a problem was opened with: the same trials, expected
/// outputs, tolerances and input distributions as for a candidate. After an answer is caught, it is
/// not judged again.
class Audit {
 public:
  /// `names`: the trivial answers to judge.
  Audit(JudgedProblem& problem, const std::vector<std::string>& names);
  /// Restores the data that trials need.
  ~Audit() { problem_.leave_distributions(slot_); }
  Audit(const Audit&) = delete;
  Audit& operator=(const Audit&) = delete;

  /// Judges the answers in all trials, and then in these input distributions.
  void run(const std::vector<std::string>& distributions);
  /// The results, by the answers' names. AuditAnswer::would_be_caught_by is not set.
  const std::map<std::string, AuditAnswer>& answers() const { return answers_; }

 private:
  struct Held {
    const TrivialAnswer* row;
    AuditAnswer* answer;
    bool open() const { return answer->passes.value_or(false); }
  };
  void look_at_other_draws();
  void run_trial(std::uint32_t trial);
  void run_distribution(const std::string& distribution);
  bool any_open() const;
  Given give(const Held& held, InputSet& set) const;
  JudgedAnswer judge(const std::vector<at::Tensor>& outputs, const InputSet& set) const;

  JudgedProblem& problem_;
  std::size_t slot_ = 0;  ///< of the last distribution
  std::map<std::string, AuditAnswer> answers_;
  std::vector<Held> held_;
  std::vector<at::Tensor> first_, means_;  ///< Known::first and Known::means
};

/// Judges all trivial answers by the check of an open problem. Those that pass are also judged by
/// kbench's whole check, for which the problem is opened again. Throws ProblemFailure.
std::map<std::string, AuditAnswer> audit(std::optional<JudgedProblem>& problem);

}  // namespace kbench::worker
