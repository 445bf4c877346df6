// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "worker/compare/wrong_pattern.hpp"
#include "worker/judge/evaluation.hpp"

// Checks the outputs of timed calls, after each block and after the last one.
namespace kbench::worker {
namespace {

/// Number of outputs that are compared after the last block.
constexpr std::size_t kCheckedTimedSets = 2;
/// After one in this many blocks, at random, an output of one random call is compared.
constexpr std::uint64_t kUncheckedBlocks = 2;

}  // namespace

void Evaluation::look_at_timed_outputs() {
  std::vector<std::size_t> suspicious;
  for (const std::size_t slot : asked_slots_)
    if (remember_outputs(slot)) suspicious.push_back(slot);
  // Without a GPU there are only four timed calls, so each is checked.
  const bool few = !on_gpu();
  if (few || protocol::random_nonce() % kUncheckedBlocks == 0)
    check_timed_output(asked_slots_[protocol::random_nonce() % asked_slots_.size()]);
  if (suspicious.empty() || outputs_repeat_) return;
  check_timed_output(suspicious.back());
  outputs_repeat_ = true;
}

void Evaluation::check_timed_outputs() {
  // Chosen after all timed calls, so no call can know that its output is checked. The other slots
  // have inputs that no call has had.
  auto slots = asked_slots_;
  std::shuffle(slots.begin(), slots.end(), std::mt19937_64(protocol::random_nonce()));
  slots.resize(std::min(slots.size(), kCheckedTimedSets));
  for (const std::size_t slot : slots) check_timed_output(slot);
}

void Evaluation::check_timed_output(std::size_t slot) {
  check_red_zones(slot);
  const JudgedProblem::TimedAnswers answers(problem_, slot);
  auto result = judge_outputs(slot, problem_.slot_set(slot));
  if (result.wrong_elements > 0) {
    problem_.look_closer(slot);
    result = judge_outputs(slot, problem_.slot_set(slot));
  }
  // After the comparison, which proves that the compared outputs are those from the end of the
  // time.
  refuse_late_write(slot);
  if (result.wrong_elements == 0) return;
  refuse_old_outputs(slot, result, repeated_outputs_);
  if (settles_timed(slot, result)) return;
  refuse_timed_shortcut(slot, result);
  const auto pattern = pattern_of(slot, problem_.slot_set(slot), result);
  throw CandidateFailure{
      Outcome::kMismatch, "timed_output",
      fmt::format("{} elements are wrong in the output of a timed call{}", result.wrong_elements,
                  pattern ? fmt::format(" ({})", to_text(*pattern)) : std::string())};
}

}  // namespace kbench::worker
