// SPDX-License-Identifier: MIT
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kbench/hash.hpp"
#include "worker/compare.hpp"
#include "worker/judged_problem.hpp"

// The part of a judged problem that asks it with inputs of other kinds than it draws.
namespace kbench::worker {
namespace {

/// Share of a tolerance by which a rounding error of the inputs may change the answer.
constexpr double kSteady = 0.25;
/// Answers of a family that are kept for the next candidate; larger ones are made again.
constexpr std::size_t kKeptBytes = std::size_t{64} << 20;

std::vector<pybind11::object> objects_of(const std::vector<Argument>& arguments) {
  std::vector<pybind11::object> objects;
  for (const auto& argument : arguments) objects.push_back(argument.object);
  return objects;
}

std::size_t bytes_of(const std::vector<at::Tensor>& tensors) {
  std::size_t bytes = 0;
  for (const auto& tensor : tensors) bytes += tensor.nbytes();
  return bytes;
}

}  // namespace

void JudgedProblem::check_families_off() const {
  const auto known = input_families();
  for (const auto& [name, reason] : options_.families_off)
    if (std::ranges::find(known, name) == known.end())
      throw ProblemFailure{
          "unknown_family",
          fmt::format("sizes.json switches off \"{}\", which is no family of inputs; there are {}",
                      name, fmt::join(known, ", ")),
          ""};
}

std::vector<std::string> JudgedProblem::families() const {
  if (by_kernelbench_ || !options_.families) return {};
  return input_families();
}

std::uint64_t JudgedProblem::family_seed(const std::string& name) const {
  return trial_seed(options_.secret, fmt::format("{} {}", options_.key, name), 0);
}

/// Why the answer to inputs of a family says nothing of a candidate; empty where it does.
std::string JudgedProblem::why_not(InputSet& set, const std::vector<Argument>& inputs,
                                   Answers& answers) {
  if (!is_defined(inputs, answers.outputs)) return "the reference is not finite";
  if (exact_) {
    set.restore();
    answers.truths = truths_of(answers.outputs, host_.exact_outputs(set.model(), objects_of(inputs)), {});
  }
  for (const Truth& truth : answers.truths)
    if (truth.value.is_floating_point() && !truth.eager_error)
      return "the reference itself is far off, or has no double precision";
  const auto nudged = nudged_answers(set, inputs);
  if (nudged.size() != answers.truths.size()) return "it has no path in double precision";
  for (std::size_t i = 0; i < nudged.size(); ++i) {
    const at::Tensor& value = answers.truths[i].value;
    if (nudged[i].sizes() != value.sizes()) return "a rounding error changes the answer's shape";
    const auto type = answers.outputs[i].scalar_type();
    const auto difference = compare(value, nudged[i].to(value.scalar_type()),
                                    kSteady * tolerance_for(options_.precision, type));
    if (difference.wrong_elements > 0) return "a rounding error changes the answer";
  }
  return {};
}

std::vector<at::Tensor> JudgedProblem::nudged_answers(InputSet& set,
                                                      const std::vector<Argument>& inputs) {
  set.restore();
  const auto nudged = host_.nudged(inputs, exact_);
  return exact_ ? host_.exact_outputs(set.model(), nudged) : host_.forward(set.model(), nudged);
}

/// The answers to inputs of a family, which the set holds by now.
JudgedProblem::Family JudgedProblem::ask(InputSet& set, const std::string& name,
                                         const std::vector<Argument>& inputs) {
  Family family;
  Answers answers = set.answer(host_, errors_);
  family.why_not = why_not(set, inputs, answers);
  if (!family.why_not.empty()) return family;
  if (name == kWholeFamily) {
    std::vector<at::Tensor> values;
    for (const Truth& truth : answers.truths) values.push_back(truth.value);
    const bool whole = all_whole(answers.outputs) && all_whole(values);
    for (Truth& truth : answers.truths) truth.whole = whole && truth.value.is_floating_point();
  }
  family.answers = std::move(answers);
  return family;
}

bool JudgedProblem::enter_family(std::size_t slot, const std::string& name) {
  if (const auto off = options_.families_off.find(name); off != options_.families_off.end())
    families_[name].why_not = fmt::format("switched off: {}", off->second);
  auto known = families_.find(name);
  if (known != families_.end() && !known->second.why_not.empty()) return false;
  InputSet& set = slot_set(slot);
  try {
    const auto inputs = host_.draw_inputs(options_.device, options_.precision, family_seed(name));
    if (!host_.change_inputs(name, inputs, family_seed(name))) {
      families_[name].why_not = "the problem draws such inputs";
      return false;
    }
    if (!entered_) {
      entered_.emplace(Entered{{}, set.input_digests()});
      set.exchange_answers(entered_->answers);
    }
    set.replace_inputs(inputs);
    if (known == families_.end() || !known->second.answers)
      known = families_.insert_or_assign(name, ask(set, name, inputs)).first;
    if (!known->second.why_not.empty()) return false;
  } catch (const ProblemFailure& failure) {
    families_[name].why_not = failure.message;
    return false;
  }
  Answers answers = *known->second.answers;
  if (bytes_of(answers.outputs) > kKeptBytes) known->second.answers.reset();
  set.exchange_answers(answers);
  return true;
}

std::map<std::string, std::string> JudgedProblem::families_left_out() const {
  std::map<std::string, std::string> reasons;
  for (const auto& [name, family] : families_)
    if (!family.why_not.empty()) reasons[name] = family.why_not;
  return reasons;
}

void JudgedProblem::leave_families(std::size_t slot) {
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
    // It will be met again when the set is drawn anew.
  }
  // A problem that draws other inputs under the same seed.
  sets_[slot].reset();
}

}  // namespace kbench::worker
