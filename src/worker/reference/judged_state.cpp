// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <span>

#include "base/hash.hpp"
#include "worker/compare/compare.hpp"
#include "worker/reference/judged_problem.hpp"
#include "worker/reference/judging.hpp"

// The part of a judged problem that distinguishes a random reference from a stateful one.
namespace kbench::worker {
namespace {

/// Seeds of random states; seeds of models and inputs differ from them.
constexpr std::uint64_t kRandomState = 0x7265666572656eu;
constexpr std::uint64_t kOtherRandomState = kRandomState + 1;
/// Maximum number of names in a message.
constexpr std::size_t kMostNames = 4;

std::string names_of(std::span<const std::string> names) {
  if (names.empty()) return "state outside of attributes";
  const auto shown = names.first(std::min(names.size(), kMostNames));
  return fmt::format("{}{}", fmt::join(shown, ", "), names.size() > kMostNames ? ", …" : "");
}

ProblemFailure outside_state(std::vector<std::string> names) {
  std::erase_if(names, [](const std::string& name) { return name.starts_with("self."); });
  return {"stateful_reference",
          fmt::format("stateful reference: a call changes state that other models see ({}), so "
                      "equal models answer differently and no candidate can be right",
                      names_of(names)),
          ""};
}

ProblemFailure random_reference() {
  return {"random_reference",
          "random reference: its answer to the same inputs depends on the random state, so no "
          "candidate can be right",
          ""};
}

}  // namespace

std::string JudgedProblem::state_names() const { return names_of(state_); }

/// True if the model gives the set's answer again under another random state.
bool JudgedProblem::answers_again(InputSet& set) {
  set.restore();
  host_.reseed(kRandomState);
  return are_right(set.expected_outputs(), set.call(host_, set.model()), options_.precision);
}

void JudgedProblem::check_random_reference() {
  pybind11::object before = host_.trace(sets_[0]->model());
  const bool answers_alike = answers_again(*sets_[0]);
  state_ = host_.changed(before, sets_[0]->model());
  if (answers_alike && state_.empty()) return;
  before = pybind11::none();  // it references the model's tensors
  if (!may_keep_state(answers_alike)) {
    state_.clear();
    return;
  }
  // is_stateful() needs at least one name.
  if (state_.empty()) state_.push_back(names_of({}));
  sets_[0].reset();
  sets_[0] = first_set();
  ++versions_[0];
  ++memory_versions_[0];
  if (answers_again(*sets_[0])) return;
  throw ProblemFailure{
      "stateful_reference",
      fmt::format("stateful reference: its answer depends on earlier calls, and kbench cannot "
                  "restore its state ({}), so no candidate can be right",
                  state_names()),
      ""};
}

/// True if a new model's answer depends on an earlier call. Throws ProblemFailure if it also
/// depends on anything that cannot be repeated.
bool JudgedProblem::may_keep_state(bool answers_alike) {
  const auto drawn = [&](std::uint32_t number) {
    return objects_of(host_.draw_inputs(
        options_.device, options_.precision,
        trial_seed(options_.secret, fmt::format("{} state", options_.key), number)));
  };
  // Calls a new model on the inputs of each number, and returns the answer to the last call.
  const auto answer = [&](std::uint64_t random_state, std::initializer_list<std::uint32_t> calls) {
    const auto model = host_.build_model(options_.device, options_.precision, init_seed(0));
    std::vector<at::Tensor> outputs;
    for (const std::uint32_t number : calls) {
      const auto inputs = drawn(number);  // this also sets random states
      host_.reseed(random_state);
      outputs = host_.forward(model, inputs);
      for (at::Tensor& output : outputs)
        output = output.clone();  // the output may be the state itself
    }
    return outputs;
  };
  const auto alike = [&](const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
    bool equal = a.size() == b.size();
    for (std::size_t i = 0; equal && i < a.size(); ++i)
      equal = a[i].sizes() == b[i].sizes() &&
              compare(a[i], b[i], tolerance_for(options_.precision, a[i].scalar_type()))
                      .wrong_elements == 0;
    return equal;
  };
  try {
    const auto first = answer(kRandomState, {0});
    if (!alike(first, answer(kOtherRandomState, {0}))) {
      if (alike(first, answer(kRandomState, {0}))) throw random_reference();
      throw outside_state(state_);
    }
    // Tests both orders, because a running maximum changes only if a larger value follows.
    return !answers_alike || !alike(first, answer(kRandomState, {1, 0})) ||
           !alike(answer(kRandomState, {1}), answer(kRandomState, {0, 1}));
  } catch (const ProblemFailure& failure) {
    if (answers_alike && failure.cause == kDoesNotFit) return false;
    throw;
  }
}

void JudgedProblem::enter_step(std::size_t slot, std::uint32_t step) {
  InputSet& set = slot_set(slot);
  const auto drawn = [&](std::uint32_t number) {
    const std::string use = fmt::format("{} call {} in a row", options_.key, number);
    return host_.draw_inputs(options_.device, options_.precision,
                             number == 0 ? draw_options(set.trial()).input_seed
                                         : trial_seed(options_.secret, use, set.trial()));
  };
  std::vector<std::vector<pybind11::object>> earlier;
  const auto inputs = drawn(step);
  for (std::uint32_t i = 0; i < step; ++i) earlier.push_back(objects_of(drawn(i)));
  enter(set);
  set.replace_inputs(inputs);
  Answers answers = set.answer_after(host_, earlier, inputs, errors_);
  set.restore();
  set.exchange_answers(answers);
}

}  // namespace kbench::worker
