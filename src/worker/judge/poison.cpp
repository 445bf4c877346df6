// SPDX-License-Identifier: MIT
#include <ATen/ATen.h>

#include "worker/compare/compare.hpp"
#include "worker/compare/element_counts.hpp"
#include "worker/judge/evaluation.hpp"

// Contents of memory before a call, and checks that depend on them: for elements that a call did
// not write, and for answers that depend on memory that the call did not write.
namespace kbench::worker {
namespace {

/// Numbers that change if anything is added to them. Huge numbers and NaN may stay as they are.
constexpr Poison kTelling = 0x3f, kTellingBesideIt = 0x40;

}  // namespace

std::int64_t Evaluation::count_unwritten(std::size_t slot, std::int64_t least) {
  const Poison poison = sets_[slot].poison;
  const auto outputs = outputs_in(slot);
  const bool is_byte = poison < kDataPoison;
  std::int64_t count = 0;
  for (const at::Tensor& output : outputs)
    count += is_byte ? count_filled(output, poison_byte(poison)) : output.numel();
  if (count == 0 || count < least) return 0;
  // A right answer may contain elements like the filling: zeros, −1, or NaN plus a number. Elements
  // that the call writes stay the same after another filling; others take the new filling.
  const auto first = copy_outputs(slot);
  sets_[slot].poison = poison == kTelling ? kTellingBesideIt : kTelling;
  {
    const CandidateClient::Running running(client_);
    call(slot);
  }
  const auto other = poison_byte(sets_[slot].poison);
  count = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    count += is_byte ? count_filled(first[i], poison_byte(poison), outputs[i], other)
                     : count_filled(outputs[i], other);
    outputs[i].copy_(first[i]);
  }
  sets_[slot].poison = poison;
  return count < least ? 0 : count;
}

bool Evaluation::is_unwritten(std::size_t slot, const TrialResult& result) {
  return count_unwritten(slot, result.wrong_elements) > 0;
}

bool Evaluation::reads_unwritten(std::size_t slot, const std::vector<at::Tensor>& first) {
  const Poison poison = sets_[slot].poison;
  sets_[slot].poison = poison == kLoudPoison ? kPoison : kLoudPoison;
  call(slot);
  sets_[slot].poison = poison;
  const auto outputs = outputs_in(slot);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double tolerance = tolerance_for(problem_.options().precision, outputs[i].scalar_type());
    const auto difference =
        compare(without_ties(slot, i, first[i]), without_ties(slot, i, outputs[i]), tolerance);
    if (difference.wrong_elements > 0) return true;
  }
  return false;
}

void Evaluation::run_poisons_left() {
  const auto left = poisons_.not_compared();
  if (left.empty()) return;
  const std::size_t slot =
      static_cast<std::size_t>(problem_.options().trials - 1) % problem_.resident();
  share(slot);
  for (const Poison poison : left) {
    InputSet& set = problem_.slot_set(slot);
    sets_[slot].poison = poison;
    call(slot);
    check_red_zones(slot);
    auto result = judge_outputs(slot, set);
    if (result.wrong_elements > 0 && problem_.has_oracle()) {
      problem_.look_closer(slot);
      result = judge_outputs(slot, set);
    }
    poisons_.note_compared(poison);
    if (result.wrong_elements == 0) continue;
    if (NearMisses(1).takes(result)) {
      note_tolerance(slot, set, result, true);
      const std::size_t first = asked_again_.size();
      asked_again_.push_back(result);
      if (settles_trials(slot, first)) continue;
      decide_mismatch(slot);
    }
    note_wrong(slot, set, result, true);
    verdict_.record.correctness.push_back(result);
    refuse_old_outputs(slot, result, seen_outputs_);
    // Answers were right after other contents, so either the content or a race makes this one
    // wrong.
    check_repeatable(slot, true);
    decide_mismatch(slot);
  }
  watch_->lap("repeat");
}

}  // namespace kbench::worker
