// SPDX-License-Identifier: MIT
#include "worker/judge/audit.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "score/kernelbench.hpp"
#include "worker/reference/judging.hpp"

namespace kbench::worker {
namespace {

/// Draws other than the trials', whose mean outputs a trivial answer may use.
constexpr std::uint32_t kOtherDraws = 3;

at::Tensor mean_of(const at::Tensor& output) {
  const at::Tensor numbers = output.is_floating_point() ? output : output.to(at::kDouble);
  return output.dim() < 2 ? numbers.clone() : numbers.mean(0);
}

bool by_kernelbench(const JudgedProblem& problem) {
  return kernelbench_row(problem.options().precision) != nullptr;
}

/// kbench's own check with nothing left out. Nothing if the problem was opened with that check.
std::optional<JudgeOptions> whole_check(const JudgeOptions& options) {
  const auto* row = kernelbench_row(options.precision);
  if (row == nullptr && options.distributions && options.distributions_off.empty())
    return std::nullopt;
  JudgeOptions whole = options;
  if (row != nullptr) whole.precision = row->precision;
  whole.distributions = true;
  whole.distributions_off.clear();
  return whole;
}

/// The input distribution on which an answer was caught.
std::string distribution_of(const std::string& caught_by) {
  return caught_by.starts_with("trial ") ? kDrawnDistribution : caught_by;
}

}  // namespace

Audit::Audit(JudgedProblem& problem, const std::vector<std::string>& names) : problem_(problem) {
  for (const TrivialAnswer& row : trivial_answers()) {
    if (std::ranges::find(names, row.name) == names.end()) continue;
    AuditAnswer& answer = answers_[std::string(row.name)];
    answer.passes = true;
    held_.push_back({&row, &answer});
  }
}

bool Audit::any_open() const { return std::ranges::any_of(held_, &Held::open); }

void Audit::run(const std::vector<std::string>& distributions) {
  if (std::ranges::any_of(
          held_, [](const Held& held) { return held.row->made_of == MadeOf::kOtherDraws; }))
    look_at_other_draws();
  const auto trials = static_cast<std::uint32_t>(problem_.options().trials);
  for (std::uint32_t trial = 0; trial < trials && any_open(); ++trial) run_trial(trial);
  if (!any_open()) return;
  for (const std::string& distribution : distributions)
    if (any_open()) run_distribution(distribution);
}

void Audit::look_at_other_draws() {
  const auto trials = static_cast<std::uint32_t>(problem_.options().trials);
  std::uint32_t draws = kOtherDraws;
  if (by_kernelbench(problem_)) {
    // One set follows the trials: that of the timed calls. The model's state persists between
    // calls, so the trials' sets are drawn before it, in order.
    for (std::uint32_t trial = 0; trial < trials; ++trial) problem_.trial_set(trial);
    draws = 1;
  }
  for (std::uint32_t draw = 0; draw < draws; ++draw) {
    const auto& outputs = problem_.trial_set(trials + draw).expected();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      if (draw == 0)
        means_.push_back(mean_of(outputs[i]) / static_cast<double>(draws));
      else
        means_.at(i) += mean_of(outputs[i]) / static_cast<double>(draws);
    }
  }
}

Given Audit::give(const Held& held, InputSet& set) const {
  const Known known{problem_.host(), set, first_, means_, problem_.options().trials};
  return held.row->give(known);
}

JudgedAnswer Audit::judge(const std::vector<at::Tensor>& outputs, const InputSet& set) const {
  std::vector<AnsweredTensor> answer;
  const std::size_t slot = set.trial() % problem_.resident();
  for (std::size_t i = 0; i < outputs.size(); ++i)
    answer.push_back({set.expected_outputs().at(i), problem_.without_ties(slot, i, outputs[i])});
  return judge_answer(problem_.options().precision, set.trial(), answer);
}

void Audit::run_trial(std::uint32_t trial) {
  InputSet& set = problem_.trial_set(trial);
  if (trial == 0)
    for (const at::Tensor& output : set.expected()) first_.push_back(output.clone());
  for (const Held& held : held_) {
    if (!held.open()) continue;
    AuditAnswer& answer = *held.answer;
    const Given given = give(held, set);
    if (const auto* why_not = std::get_if<std::string>(&given)) {
      answer = {};
      answer.why = *why_not;
      continue;
    }
    const TrialResult result = judge(std::get<std::vector<at::Tensor>>(given), set);
    answer.max_rel_error =
        std::max(answer.max_rel_error.value_or(0), result.max_rel_error.value_or(0));
    answer.allclose_at = std::max(answer.allclose_at.value_or(0), result.allclose_at.value_or(0));
    if (result.wrong_elements == 0) continue;
    answer.passes = false;
    answer.caught_by = fmt::format("trial {}", trial);
  }
}

void Audit::run_distribution(const std::string& distribution) {
  const std::size_t slot = problem_.distribution_slot(distribution);
  if (slot != slot_) problem_.leave_distributions(std::exchange(slot_, slot));
  if (!problem_.enter_distribution(slot, distribution)) return;
  InputSet& set = problem_.slot_set(slot);
  std::vector<Held> open;
  std::ranges::copy_if(held_, std::back_inserter(open), &Held::open);
  const auto results = judge_in_distribution(
      problem_, slot, distribution, open.size(), [&](std::size_t i) -> JudgedAnswer {
        const Given given = give(open[i], set);
        const auto* outputs = std::get_if<std::vector<at::Tensor>>(&given);
        // An answer that does not apply to these inputs is not caught by them.
        return outputs == nullptr ? JudgedAnswer{} : judge(*outputs, set);
      });
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].wrong_elements == 0) continue;
    open[i].answer->passes = false;
    open[i].answer->caught_by = distribution;
  }
}

std::map<std::string, AuditAnswer> audit(std::optional<JudgedProblem>& problem) {
  std::vector<std::string> names;
  for (const TrivialAnswer& row : trivial_answers()) names.emplace_back(row.name);
  auto whole = whole_check(problem->options());
  const bool compat = by_kernelbench(*problem);
  std::map<std::string, AuditAnswer> answers;
  {
    Audit asked(*problem, names);
    asked.run(problem->distributions());
    answers = asked.answers();
  }
  std::erase_if(names,
                [&](const std::string& name) { return !answers[name].passes.value_or(false); });
  for (const std::string& name : names) {
    AuditAnswer& answer = answers[name];
    answer.tolerance = tolerance_below(*(compat ? answer.allclose_at : answer.max_rel_error));
  }
  if (names.empty() || !whole) return answers;
  problem.reset();
  release_memory(whole->device);
  try {
    problem.emplace(std::move(*whole));
    Audit asked(*problem, names);
    asked.run(problem->distributions());
    for (const auto& [name, answer] : asked.answers())
      if (!answer.caught_by.empty())
        answers[name].would_be_caught_by = distribution_of(answer.caught_by);
  } catch (const ProblemFailure& failure) {
    // kbench may reject a problem that KernelBench accepts.
    for (const std::string& name : names) answers[name].why = failure.message;
  }
  return answers;
}

}  // namespace kbench::worker
