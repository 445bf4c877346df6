// SPDX-License-Identifier: MIT
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "worker/compare/compare.hpp"
#include "worker/compare/element_counts.hpp"
#include "worker/judge/evaluation.hpp"

// Whose kernels a candidate runs, and if they compute the answer.
namespace kbench::worker {

using protocol::MessageType;

namespace {

/// Traced blocks are chosen at random, so a candidate cannot run its own kernels only in them. One
/// is among the first kFirstBlocks, because every timing has that many. Of the later blocks, one in
/// kUnlookedBlocks is traced.
constexpr std::uint64_t kFirstBlocks = 4;
constexpr std::uint64_t kUnlookedBlocks = 6;

/// The value that minimizes the largest difference from all elements, expanded to the tensor's
/// shape.
at::Tensor middle_of(const at::Tensor& tensor) {
  const auto [least, most] = at::aminmax(tensor);
  return (least / 2 + most / 2).expand(tensor.sizes());
}

}  // namespace

void Evaluation::take_class(const protocol::CalledBody& called) {
  Record& record = verdict_.record;
  if (called.unseen != 0) {
    record.kernel_class = kUnknownClass;
    flag("trace_incomplete");
  }
  if (record.kernel_class == kUnknownClass) return;
  const bool own = record.kernel_class == "own" || record.kernel_class == "mixed";
  const bool library = record.kernel_class == "library" || record.kernel_class == "mixed";
  const bool now_own = own || called.launches > 0;
  const bool now_library = library || called.computed != 0;
  record.kernel_class = now_own ? now_library ? "mixed" : "own" : now_library ? "library" : "none";
}

/// The read may have been in any call so far, also in an untraced one.
void Evaluation::take_read_back() {
  flag(protocol::kNotedFlags[protocol::kInputsReadBack]);
  if (verdict_.record.kernel_class == "own") verdict_.record.kernel_class = "mixed";
}

bool Evaluation::is_looked_before() {
  if (blocks_ == 0) first_look_ = protocol::random_nonce() % kFirstBlocks;
  const std::uint64_t block = blocks_++;
  return block == first_look_ ||
         (block > first_look_ && protocol::random_nonce() % kUnlookedBlocks == 0);
}

void Evaluation::check_own() const {
  const Record& record = verdict_.record;
  if (!request_.require_own || record.kernel_class == "own") return;
  std::string what = "kbench could not trace all kernels";
  if (has_dead_kernels_)
    what = "the candidate gives the same answer without its own kernels";
  else if (record.kernel_class == "none")
    what = "the traced calls computed nothing";
  else if (std::ranges::find(record.flags, "inputs_read_back") != record.flags.end())
    what =
        "the candidate's host code reads inputs or weights, so it may compute a part of the answer";
  else if (record.kernel_class != kUnknownClass)
    what = fmt::format("torch or another library computes {} of the answer",
                       record.kernel_class == "mixed" ? "a part" : "all");
  throw CandidateFailure{Outcome::kRejected, "not_own_kernels", what};
}

/// In a kernel candidate, nothing but its kernels computes.
bool Evaluation::may_have_dead_kernels() const {
  const auto& found = verdict_.record.kernel_class;
  return request_.kind != CandidateKind::kKernel && (found == "own" || found == "mixed");
}

bool Evaluation::is_decisive(InputSet& set, const std::vector<at::Tensor>& earlier) const {
  const std::string& precision = problem_.options().precision;
  for (std::size_t i = 0; i < set.expected().size(); ++i) {
    const at::Tensor& expected = set.expected()[i];
    const ExpectedOutput& expected_output = set.expected_outputs()[i];
    if (expected.numel() == 0 || !all_finite({expected})) continue;
    const double allowed =
        expected_output.allowed(tolerance_for(precision, expected.scalar_type()));
    const auto is_right = [&](const at::Tensor& answer) {
      return expected_output.compared(answer, allowed, comparison_rule(precision)).wrong_elements ==
             0;
    };
    const auto is_held = [&](const Slot& input) {
      const at::Tensor& value = input.source_view;
      return value.scalar_type() == expected.scalar_type() && value.numel() == expected.numel() &&
             is_right(value.view(expected.sizes()));
    };
    const bool is_one_value =
        expected.is_floating_point() ? is_right(middle_of(expected)) : is_constant(expected);
    if (is_one_value || (i < earlier.size() && is_right(earlier[i])) ||
        std::ranges::any_of(set.inputs(), is_held))
      continue;
    return true;
  }
  return false;
}

Evaluation::Ablation Evaluation::ablate(std::size_t slot, const std::vector<at::Tensor>& earlier) {
  client_.resume();
  problem_.device().synchronize();
  sets_[slot].poison = kPoison;  // NaN: no right answer consists of it
  protocol::Message message;
  try {
    message = send_call(slot, protocol::CallMode::kAblation);
  } catch (const CandidateFailure&) {
    return Ablation::kUnknown;
  }
  const auto called = called_of(message);
  // On a GPU kbench cannot skip kernels that other code launches or replays. The trace then shows
  // launches.
  const bool all_held = called && (problem_.options().device == "cpu" || called->launches == 0) &&
                        called->unseen == 0;
  if (called && (called->noted >> protocol::kInputsReadBack & 1u) != 0) take_read_back();
  if (!all_held) return Ablation::kUnknown;
  InputSet& set = problem_.slot_set(slot);
  if (judge_outputs(slot, set).wrong_elements > 0) return Ablation::kNeeded;
  return is_decisive(set, earlier) ? Ablation::kUnneeded : Ablation::kNothing;
}

Evaluation::Ablation Evaluation::ablate_in_distributions() {
  constexpr std::size_t kSlot = 0;
  share(kSlot);
  problem_.forget_room();
  const auto earlier = problem_.slot_set(kSlot).expected();
  const JudgedProblem::DistributionSpan span(problem_, kSlot);
  int needed = 0;
  int unneeded = 0;
  for (const std::string& distribution : problem_.distributions()) {
    // Almost all of this answer equals an earlier answer, which memory may still contain.
    if (distribution == kNearDistribution || !problem_.enter_distribution(kSlot, distribution))
      continue;
    const Ablation result = ablate(kSlot, earlier);
    if (result == Ablation::kUnneeded) ++unneeded;
    if (result != Ablation::kNeeded) continue;
    // Only after the ablation run, because a whole call leaves its right answer in memory.
    call(kSlot);
    if (judge_outputs(kSlot, problem_.slot_set(kSlot)).wrong_elements == 0) ++needed;
  }
  // A candidate whose kernels serve only a rare kind of inputs computes most answers without them.
  if (needed > unneeded) return Ablation::kNeeded;
  return unneeded > 0 ? Ablation::kUnneeded : Ablation::kNothing;
}

void Evaluation::run_ablation() {
  if (!may_have_dead_kernels()) return;
  const std::size_t slot = problem_.timed_slots().front();
  const auto earlier = problem_.slot_set(problem_.owner(slot)).expected();
  Ablation result = Ablation::kUnknown;
  {
    const JudgedProblem::TimedSpan span(problem_);
    problem_.refresh_timed();
    share(slot);
    const JudgedProblem::TimedAnswers answers(problem_, slot);
    result = ablate(slot, earlier);
  }
  if (result == Ablation::kUnneeded || result == Ablation::kNothing) {
    // With these inputs a kernel may have nothing to do, such as one that replaces negative
    // numbers.
    try {
      const Ablation further = ablate_in_distributions();
      if (further != Ablation::kNothing) result = further;
    } catch (const CandidateFailure&) {
      result = Ablation::kUnknown;
    } catch (const ProblemFailure&) {
      // Memory is too short for more inputs; the first result stays.
    } catch (const c10::OutOfMemoryError&) {
      // The same.
    }
  }
  if (result == Ablation::kNeeded) return;
  if (result != Ablation::kUnneeded) return flag("ablation_skipped");
  has_dead_kernels_ = true;
  verdict_.record.kernel_class = "library";
  flag("dead_kernels");
}

}  // namespace kbench::worker
