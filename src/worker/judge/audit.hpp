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

/// Holds trivial answers against the check that a problem was opened with: the same trials,
/// expected outputs, tolerances and input distributions as for a candidate. An answer that was
/// caught is not asked again.
class Audit {
 public:
  /// `names` are those of the answers that are asked for.
  Audit(JudgedProblem& problem, const std::vector<std::string>& names);
  /// Puts back what trials need.
  ~Audit() { problem_.leave_distributions(slot_); }
  Audit(const Audit&) = delete;
  Audit& operator=(const Audit&) = delete;

  /// Asks in all trials, and then with these input distributions.
  void run(const std::vector<std::string>& distributions);
  /// How each fared. Where it passes, what would catch it is not known yet.
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
  std::size_t slot_ = 0;  ///< in which a distribution was asked last
  std::map<std::string, AuditAnswer> answers_;
  std::vector<Held> held_;
  std::vector<at::Tensor> first_, means_;  ///< as Known has them
};

/// All trivial answers held against the check of an open problem; those that pass also against
/// kbench's whole check, for which the problem is opened anew. Throws ProblemFailure.
std::map<std::string, AuditAnswer> audit(std::optional<JudgedProblem>& problem);

}  // namespace kbench::worker
