// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/hash.hpp"
#include "worker/compare/element_counts.hpp"
#include "worker/reference/judged_problem.hpp"

// The part of a judged problem that prepares fresh inputs for timed calls.
namespace kbench::worker {

std::vector<std::size_t> JudgedProblem::timed_slots() const {
  std::vector<std::size_t> slots;
  for (std::size_t slot = resident_; slot < sets_.size(); ++slot) slots.push_back(slot);
  if (slots.empty()) slots.push_back(0);
  return slots;
}

DrawOptions JudgedProblem::draw_timed_options() {
  DrawOptions options = draw_options(0);
  options.input_seed =
      trial_seed(options_.secret, fmt::format("{} timed", options_.key), timed_draws_++);
  return options;
}

InputSet& JudgedProblem::timed_set(std::size_t slot) {
  const std::size_t owning = owner(slot);
  InputSet& model = slot_set(owning);
  if (!sets_[slot] || owner_versions_[slot] != versions_[owning]) {
    InputMemory memory = take_memory(slot);
    put(slot, std::make_unique<InputSet>(host_, *device_, draw_timed_options(), model,
                                         std::move(memory)));
    owner_versions_[slot] = versions_[owning];
  }
  return *sets_[slot];
}

void JudgedProblem::refresh_timed() {
  const std::size_t slot = timed_slots().front();
  InputSet& set = slot_set(slot);
  if (slot < resident_) enter(set);
  set.replace_inputs(
      host_.draw_inputs(options_.device, options_.precision, draw_timed_options().input_seed));
  device_->synchronize();
}

void JudgedProblem::refresh_timed(std::span<const std::size_t> slots,
                                  std::span<const protocol::EncryptionKey> keys) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    InputSet& set = slot_set(slots[i]);
    if (slots[i] < resident_) enter(set);
    set.replace_inputs(
        host_.draw_inputs(options_.device, options_.precision, draw_timed_options().input_seed),
        *device_, keys[i]);
  }
}

bool JudgedProblem::follows_calls(std::size_t slot) {
  if (is_stateful()) return true;
  InputSet& set = slot_set(slot);
  const auto is_written = [](const Slot& state) { return state.mutated; };
  if (std::ranges::none_of(set.state(), is_written)) return false;
  // After a call with the same inputs, a maximum of all inputs so far would not change the answer.
  const auto other =
      host_.draw_inputs(options_.device, options_.precision, draw_timed_options().input_seed);
  const auto own = own_arguments(set);
  const auto first = set.answer(host_, own, errors_).outputs;
  set.restore();
  set.answer(host_, other, errors_);
  const auto second = set.answer(host_, own, errors_).outputs;
  set.restore();
  for (std::size_t i = 0; i < first.size(); ++i)
    if (!same_bits(first[i], second[i])) return true;
  return false;
}

JudgedProblem::TimedAnswers::TimedAnswers(JudgedProblem& problem, std::size_t slot)
    : set_(problem.slot_set(slot)),
      answers_(set_.answer(problem.host_, problem.own_arguments(set_), problem.errors_)) {
  set_.restore();
  set_.exchange_answers(answers_);
}

void JudgedProblem::look_closer(std::size_t slot) {
  std::string ignored;  // matters only for distributions
  InputSet& set = slot_set(slot);
  look_closer(set, ignored);
  set.restore();
}

void JudgedProblem::leave_timed() {
  if (sets_.size() == resident_) leave(0);
}

void JudgedProblem::enter(InputSet& set) {
  if (entered_) return;
  entered_.emplace(Entered{{}, set.input_digests()});
  set.exchange_answers(entered_->answers);
}

void JudgedProblem::leave(std::size_t slot) {
  if (!entered_ || !sets_[slot]) return;
  InputSet& set = *sets_[slot];
  Entered before = std::move(*entered_);
  entered_.reset();
  try {
    set.exchange_answers(before.answers);
    set.replace_inputs(host_.draw_inputs(options_.device, options_.precision,
                                         draw_options(set.trial()).input_seed));
    if (set.input_digests() == before.digests) return set.restore();
  } catch (const ProblemFailure&) {
    // The same failure will occur, and be reported, when the set is drawn again.
  } catch (const c10::OutOfMemoryError&) {
    // The same holds here.
  }
  // The problem drew other inputs under the same seed, so the set must be drawn again.
  sets_[slot].reset();
}

}  // namespace kbench::worker
