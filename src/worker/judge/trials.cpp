// SPDX-License-Identifier: MIT
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "worker/compare/compare.hpp"
#include "worker/compare/element_counts.hpp"
#include "worker/compare/wrong_pattern.hpp"
#include "worker/judge/evaluation.hpp"
#include "worker/reference/judging.hpp"

// The part of an evaluation that decides if answers are right: trials, input distributions and
// repeated calls.
namespace kbench::worker {
namespace {

/// ": the last 128 elements", where two answers differ; empty if they are no regular places.
std::string places_words(const at::Tensor& first, const at::Tensor& again, double tolerance) {
  const auto pattern = wrong_pattern(first, again, tolerance);
  return pattern && !pattern->where.empty() ? ": " + pattern->where : std::string();
}

}  // namespace

JudgedAnswer Evaluation::judge_outputs(std::size_t slot, InputSet& set) {
  std::vector<AnsweredTensor> answer;
  std::size_t output = 0;
  for (const auto& work : sets_[slot].work) {
    const auto& tensor = request_.plan.tensors[work.tensor];
    const bool is_output = tensor.role == BoundTensor::Role::kOutput;
    if (is_output) {
      answer.push_back(
          {set.expected_outputs().at(output), without_ties(slot, output, work.view), true});
      ++output;
      continue;
    }
    if (!tensor.writable) continue;
    const Slot& source = slot_of(set, tensor);
    const at::Tensor& expected = source.mutated ? source.expected : source.source_view;
    answer.push_back({ExpectedOutput{expected, {}, 0, 1}, work.view, false});
  }
  return judge_answer(problem_.options().precision, set.trial(), answer);
}

at::Tensor Evaluation::without_ties(std::size_t slot, std::size_t output, const at::Tensor& got) {
  at::Tensor settled = problem_.without_ties(slot, output, got);
  if (!settled.is_same(got) && !same_bits(settled, got)) flag("other_ties");
  return settled;
}

void Evaluation::run_trials() {
  if (!problem_.has_oracle()) flag("no_oracle");
  bool mismatched = false;
  NearMisses near(problem_.options().trials);
  std::size_t last_slot = 0;
  bool is_again = false;
  for (int trial = 0; trial < problem_.options().trials; ++trial) {
    InputSet& set = problem_.trial_set(static_cast<std::uint32_t>(trial));
    problem_.device().synchronize();
    watch_->lap("draw");
    const std::size_t slot = static_cast<std::size_t>(trial) % problem_.resident();
    last_slot = slot;
    share(slot);
    if (std::exchange(is_again, false))
      call(slot);
    else
      call_on_next_poison(slot);
    watch_->lap(trial == 0 ? "first_call" : "call");
    if (request_.one_call) return;
    check_red_zones(slot);
    auto result = judge_outputs(slot, set);
    const bool is_exact =
        std::ranges::all_of(set.expected_outputs(), [](const ExpectedOutput& expected_output) {
          return expected_output.is_exact || !expected_output.value.is_floating_point();
        });
    if (result.wrong_elements > 0 && !is_exact && problem_.has_oracle()) {
      problem_.look_closer(slot);
      result = judge_outputs(slot, set);
    }
    const bool fits = result.wrong_elements == 0 || NearMisses(1).takes(result);
    if (!has_chosen_ && !chooses_weights(slot, result, fits)) {
      --trial;  // the same trial again, after its weights were made in the other way
      is_again = true;
      continue;
    }
    if (trial > 0 && !fits && !mismatched && is_right_if_given(slot, set)) {
      near = NearMisses(problem_.options().trials);
      trial = -1;  // all trials again
      continue;
    }
    poisons_.note_compared(sets_[slot].poison);
    check_state(slot, set);
    // Near misses are decided after all trials.
    const bool missed =
        result.wrong_elements > 0 && !is_old_output(slot, seen_outputs_) && near.takes(result);
    const bool wrong = result.wrong_elements > 0 && !missed;
    // After a smaller error the other trials follow, because they show at which precision row the
    // answer is right.
    const bool clearly =
        wrong && !(result.max_rel_error.value_or(0) <= precision_rows().back().tolerance);
    if (wrong) note_wrong(slot, set, result, !mismatched);
    if (missed) note_tolerance(slot, set, result, true);
    (missed ? asked_again_ : verdict_.record.correctness).push_back(result);
    if (wrong)
      refuse_old_outputs(slot, result, seen_outputs_);
    else
      remember_outputs(slot);
    watch_->lap("compare");
    if (trial == 0 || (wrong && !mismatched)) check_repeatable(slot, wrong);
    if (trial == 0 && result.wrong_elements == 0) check_undefined(slot, set);
    // Several trials: a candidate may compare a few weights with its copy, and notice the change of
    // one trial by luck.
    constexpr int kTrialsOfWeights = 3;
    if (trial < kTrialsOfWeights && result.wrong_elements == 0) check_weights_read(slot);
    if (!wrong) check_next_calls(slot);
    watch_->lap("repeat");
    mismatched = mismatched || wrong;
    if (clearly && !request_.all_trials) break;
  }
  refuse_written();
  if (!mismatched && near.any()) mismatched = !settles_trials(last_slot, 0);
  if (mismatched) decide_mismatch(last_slot);
  run_distributions();
  run_poisons_left();
}

/// For a reference that keeps state: makes consecutive calls with other inputs, after the trial's
/// own call.
void Evaluation::check_next_calls(std::size_t slot) {
  if (!problem_.is_stateful()) return;
  constexpr std::uint32_t kNextCalls = 2;
  const JudgedProblem::DistributionSpan span(problem_, slot);
  for (std::uint32_t step = 1; step <= kNextCalls; ++step) {
    problem_.enter_step(slot, step);
    problem_.device().synchronize();
    send_call(slot, protocol::CallMode::kNext);
    check_red_zones(slot);
    const auto result = judge_outputs(slot, problem_.slot_set(slot));
    if (result.wrong_elements == 0) continue;
    // Not wrong, because errors grow with the state that calls keep. Models of other trials make
    // such calls, too.
    if (NearMisses(1).takes(result)) {
      flag(kNearToleranceFlag);
      continue;
    }
    verdict_.record.correctness.push_back(result);
    throw CandidateFailure{
        Outcome::kMismatch, "state_not_kept",
        fmt::format("right in a model's first call, but {} elements are wrong in call {} in a row: "
                    "the reference keeps state from call to call ({})",
                    result.wrong_elements, step + 1, problem_.state_names())};
  }
}

void Evaluation::check_state(std::size_t slot, InputSet& set) {
  constexpr std::string_view kFlag = "state_not_updated";
  if (request_.kind == CandidateKind::kKernel) {
    // Writable state in a plan is compared like an output.
    for (std::size_t i = 0; i < set.state().size(); ++i) {
      const bool named = std::ranges::any_of(request_.plan.tensors, [&](const BoundTensor& tensor) {
        return tensor.role == BoundTensor::Role::kState && tensor.index == i && tensor.writable;
      });
      if (set.state()[i].mutated && !named) flag(kFlag);
    }
    return;
  }
  for (const auto& work : sets_[slot].work) {
    const auto& tensor = request_.plan.tensors[work.tensor];
    // Integer state, such as num_batches_tracked, only counts calls.
    if (tensor.role != BoundTensor::Role::kState || !work.view.is_floating_point()) continue;
    const double tolerance = tolerance_for(problem_.options().precision, work.view.scalar_type());
    if (compare(slot_of(set, tensor).expected, work.view, tolerance).wrong_elements > 0)
      flag(kFlag);
  }
}

void Evaluation::refuse_written() {
  if (!problem_.first_changed_source().empty()) throw problem_.input_written();
}

void Evaluation::refuse_written(std::span<const std::size_t> slots) {
  for (const std::size_t slot : slots)
    if (problem_.slot_set(slot).first_changed_source() != nullptr) throw problem_.input_written();
}

/// Judges the same candidate in the same memory on further distributions of inputs.
void Evaluation::run_distributions() {
  share(0);
  problem_.forget_room();
  bool mismatched = false;
  std::size_t last_slot = 0;
  std::optional<JudgedProblem::DistributionSpan> span;
  for (const std::string& distribution : problem_.distributions()) {
    const std::size_t slot = problem_.distribution_slot(distribution);
    if (!span || last_slot != slot) {
      span.reset();
      span.emplace(problem_, slot);
      last_slot = slot;
    }
    const bool settled = run_distribution(slot, distribution, mismatched);
    if (settled && !request_.all_trials) break;
  }
  if (mismatched) decide_mismatch(last_slot);
}

bool Evaluation::run_distribution(std::size_t slot, const std::string& distribution,
                                  bool& mismatched) {
  if (!problem_.enter_distribution(slot, distribution)) {
    if (problem_.lacked_room(distribution)) flag("distribution_unchecked");
    return false;
  }
  watch_->lap("distributions");
  call_on_next_poison(slot);
  watch_->lap("distribution_call");
  check_red_zones(slot);
  InputSet& set = problem_.slot_set(slot);
  auto results = judge_in_distribution(problem_, slot, distribution, 1,
                                       [&](std::size_t) { return judge_outputs(slot, set); });
  if (results.empty()) return false;
  poisons_.note_compared(sets_[slot].poison);
  const bool wrong = results.front().wrong_elements > 0;
  const double norm_error = norm_error_;
  if (wrong) note_wrong(slot, set, results.front(), !mismatched);
  flag_deviations(slot, set);
  if (wrong && settles_distribution(slot, distribution, results.front())) {
    norm_error_ = norm_error;
    if (!mismatched) wrong_pattern_.reset();
    return mismatched;
  }
  mismatched = mismatched || wrong;
  verdict_.record.correctness.push_back(results.front());
  // A candidate that misses a few elements by mistake gives the trial's answer if only these are
  // changed. The next distribution then decides.
  const bool may_be_mistake = distribution == kNearDistribution;
  if (wrong && !may_be_mistake) refuse_old_outputs(slot, results.front(), seen_outputs_);
  if (set.first_changed_source() != nullptr) throw problem_.input_written();
  const bool goes_on = wrong && may_be_mistake && is_old_output(slot, seen_outputs_);
  return mismatched && !goes_on;
}

void Evaluation::flag_deviations(std::size_t slot, InputSet& set) {
  const auto outputs = outputs_in(slot);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::uint64_t seen = set.expected_outputs().at(i).deviations(outputs[i]);
    for (const auto& [deviation, name] : deviation_flags())
      if ((seen >> static_cast<unsigned>(deviation) & 1) != 0) flag(name);
  }
}

void Evaluation::check_undefined(std::size_t slot, InputSet& set) {
  if (!request_.has_undefined) return;
  problem_.device().synchronize();
  send_call(slot, protocol::CallMode::kUndefined);
  const auto result = judge_outputs(slot, set);
  if (result.wrong_elements == 0 || NearMisses(1).takes(result)) return;
  verdict_.record.correctness.push_back(result);
  throw CandidateFailure{
      Outcome::kMismatch, "right_by_chance",
      fmt::format("{} elements are right by chance: a kernel reads an uninitialized variable, or "
                  "memory that another warp has not written yet (a barrier is missing)",
                  result.wrong_elements)};
}

void Evaluation::check_repeatable(std::size_t slot, bool mismatched) {
  const auto first = copy_outputs(slot);
  // A race may need several calls to show. For a wrong answer it is worth the time to find one.
  const int repeats = mismatched ? 3 : 1;
  for (int i = 0; i < repeats; ++i) {
    call(slot);
    const auto again = copy_outputs(slot);
    for (std::size_t output = 0; output < first.size(); ++output) {
      if (same_bits(first[output], again[output])) continue;
      refuse_unwritten(slot);
      // Two right answers may differ by as much as one may be off.
      const double tolerance = problem_.slot_set(slot).expected_outputs().at(output).allowed(
          tolerance_for(problem_.options().precision, first[output].scalar_type()));
      const auto difference = compare(without_ties(slot, output, first[output]),
                                      without_ties(slot, output, again[output]), tolerance);
      if (difference.wrong_elements > 0)
        throw CandidateFailure{
            Outcome::kNondeterministic, "repeated_call",
            fmt::format("{} elements of output {} differ between two calls on the same input{}",
                        difference.wrong_elements, output,
                        places_words(without_ties(slot, output, first[output]),
                                     without_ties(slot, output, again[output]), tolerance))};
      auto& flags = verdict_.record.flags;
      if (std::ranges::find(flags, "nondeterministic_bits") == flags.end())
        flags.emplace_back("nondeterministic_bits");
    }
  }
  if (mismatched && !unwritten_) reads_unwritten_ = reads_unwritten(slot, first);
}

void Evaluation::note_wrong(std::size_t slot, InputSet& set, const TrialResult& result,
                            bool is_first) {
  if (is_first) {
    wrong_pattern_ = pattern_of(slot, set, result);
    unwritten_ = is_unwritten(slot, result);
  }
  note_tolerance(slot, set, result, is_first);
  const auto outputs = outputs_in(slot);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const at::Tensor& expected = set.expected_outputs().at(i).value;
    if (!outputs[i].is_floating_point() || !expected.is_floating_point()) continue;
    norm_error_ = std::max(norm_error_, norm_error(expected, without_ties(slot, i, outputs[i])));
  }
}

void Evaluation::decide_mismatch(std::size_t slot) {
  double worst = 0;
  TrialResult* first = nullptr;
  for (auto& result : verdict_.record.correctness) {
    worst = std::max(worst, result.max_rel_error.value_or(0));
    if (first == nullptr && result.wrong_elements > 0) first = &result;
  }
  const PrecisionRow* row = by_kernelbench_ ? nullptr : row_looked_like(worst, norm_error_);
  // An error in integral values may be wrong although it is below the requested tolerance. No
  // larger tolerance explains it.
  const double asked = tolerance_for(problem_.options().precision,
                                     problem_.slot_set(0).expected().front().scalar_type());
  if (row != nullptr && row->tolerance <= asked) row = nullptr;
  if (unwritten_ || reads_unwritten_) row = nullptr;
  if (row != nullptr) verdict_.record.correct_at = std::string(row->name);
  const std::string where =
      first->distribution == kDrawnDistribution
          ? fmt::format("trial {}", first->trial)
          : fmt::format("the input distribution {}", first->distribution.str());
  first->wrong_pattern = wrong_pattern_;
  const std::string pattern =
      wrong_pattern_ ? fmt::format(" ({})", to_text(*wrong_pattern_)) : std::string();
  const bool unwritten = row == nullptr && unwritten_;
  const std::string why =
      (reads_unwritten_ ? ", and change with the contents of memory that the call has not written"
                        : "") +
      (unwritten ? std::string() : error_words(worst) + eval_mode_words(slot));
  const std::string_view cause = row != nullptr ? "beyond_tolerance"
                                 : unwritten    ? "not_written"
                                                : "wrong_values";
  throw CandidateFailure{Outcome::kMismatch, std::string(cause),
                         fmt::format("{} elements are {} in {}{}{}", first->wrong_elements,
                                     row != nullptr ? "beyond the tolerance"
                                     : unwritten    ? "not written by the call"
                                                    : "wrong",
                                     where, pattern, why)};
}

}  // namespace kbench::worker
