// SPDX-License-Identifier: MIT
#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/hash.hpp"
#include "worker/compare/compare.hpp"
#include "worker/compare/element_counts.hpp"
#include "worker/reference/judged_problem.hpp"

// The part of a judged problem with other input distributions than the problem draws.
namespace kbench::worker {
namespace {

/// Fraction of a tolerance by which a rounding error in the inputs may change the answer.
constexpr double kSteady = 0.25;
/// The distribution on which a good kernel may lose digits, as in a variance that is the difference
/// of two sums. It is there to find kernels that overflow or divide by zero, so its tolerance is
/// kCoarse times the usual one.
constexpr std::string_view kCoarseDistribution = "shifted";
constexpr double kCoarse = 100;
/// Distributions for which the tolerance is kLarge times the usual one. With heavy tails, sums have
/// intermediate values far larger than their results. Tensor cores truncate such sums instead of
/// rounding them; a product in three steps of TF32 is otherwise as good as fp32. With outliers, the
/// exponential of a softmax turns the rounding of a large score into an error of its weight.
constexpr std::array<std::string_view, 4> kLargeDistributions{"heavy_tails", "outliers",
                                                              "one_outlier", "another_outlier"};
constexpr double kLarge = 2;
/// Distributions whose expected outputs may have infinities and NaN, if the reference defines where
/// they are.
constexpr std::array<std::string_view, 3> kNonFiniteDistributions{"infinity", "minus_infinity",
                                                                  "nan"};
/// Half the last digit of a float32. A sequential sum of equal addends loses at most this fraction
/// in each step.
constexpr double kHalfDigit = 0x1p-24;
/// The bound of equal_sum_error(). Larger errors are not attributed to the order of a sum.
constexpr double kMostSumError = 1e-2;
/// Answers of at most this size are always kept for the next candidate. Larger ones are kept while
/// all of them together leave candidates enough memory; else they are computed again.
constexpr std::size_t kKeptBytes = std::size_t{64} << 20;

std::size_t bytes_of(const std::vector<at::Tensor>& tensors) {
  std::size_t bytes = 0;
  for (const auto& tensor : tensors) bytes += tensor.nbytes();
  return bytes;
}

/// True if, for an input of the same shape, the output is finite wherever that input is.
bool is_odd_where_inputs_are(const std::vector<Argument>& inputs, const at::Tensor& output) {
  return std::ranges::any_of(inputs, [&](const Argument& input) {
    return input.is_tensor && input.tensor.sizes() == output.sizes() &&
           finite_where(output, input.tensor);
  });
}

/// True if an answer that is not finite is still worth comparing. At least half of each output must
/// be finite, and an element may be non-finite only if its own input element is.
///
/// If elements meet, as in a sum, a convolution or a sort, honest algorithms differ. Winograd, for
/// example, also gives NaN for an infinity's neighbours; fmaxf then turns that into a number, and
/// nothing is left to compare. Outputs must be floating and written inputs finite; otherwise
/// elements that prove nothing would have to be right.
bool tells_beside(const std::vector<Argument>& inputs, const Answers& answers) {
  return all_finite(answers.written) &&
         std::ranges::all_of(answers.outputs, [&](const at::Tensor& output) {
           return output.is_floating_point() && output.numel() > 0 &&
                  2 * count_finite(output) >= output.numel() &&
                  is_odd_where_inputs_are(inputs, output);
         });
}

/// True if a candidate has to give this finite answer. Answers without a floating output, such as
/// indices, count only if all inputs are finite.
bool is_defined(const std::vector<Argument>& inputs, const std::vector<at::Tensor>& outputs) {
  if (std::ranges::any_of(outputs, [](const auto& output) { return output.is_floating_point(); }))
    return true;
  std::vector<at::Tensor> tensors;
  for (const auto& input : inputs)
    if (input.is_tensor) tensors.push_back(input.tensor);
  return all_finite(tensors);
}

}  // namespace

void JudgedProblem::check_distributions_off() const {
  const auto known = input_distributions();
  for (const auto& [name, reason] : options_.distributions_off)
    if (std::ranges::find(known, name) == known.end())
      throw ProblemFailure{
          "unknown_distribution",
          fmt::format(
              "sizes.json switches off \"{}\", which is not an input distribution; choose from {}",
              name, fmt::join(known, ", ")),
          ""};
}

std::vector<std::string> JudgedProblem::distributions() const {
  if (by_kernelbench_ || !options_.distributions) return {};
  return input_distributions();
}

std::uint64_t JudgedProblem::distribution_seed(const std::string& name) const {
  return trial_seed(options_.secret, fmt::format("{} {}", options_.key, name), 0);
}

bool JudgedProblem::enter_distribution(std::size_t slot, const std::string& name) {
  if (const auto off = options_.distributions_off.find(name);
      off != options_.distributions_off.end())
    distributions_[name].why_not = fmt::format("switched off: {}", off->second);
  Distribution& distribution = distributions_[name];
  if (!distribution.why_not.empty()) return false;
  InputSet& set = slot_set(slot);
  try {
    const auto seed =
        name == kNearDistribution ? draw_options(set.trial()).input_seed : distribution_seed(name);
    const auto inputs = host_.draw_inputs(options_.device, options_.precision, seed);
    if (!host_.change_inputs(name, inputs, distribution_seed(name))) {
      distribution.why_not = "the problem itself draws such inputs";
      return false;
    }
    enter(set);
    set.replace_inputs(inputs);
    if (!distribution.answers) distribution = ask(set, inputs, name, distribution.confirmed);
    release_idle(set);
  } catch (const ProblemFailure& failure) {
    // Another candidate may leave more memory.
    if (failure.cause == kDoesNotFit) {
      no_room_.insert(name);
      return false;
    }
    distribution.why_not = failure.message;
  }
  if (!distribution.why_not.empty()) return false;
  give(set, distribution);
  return true;
}

bool JudgedProblem::enter_further(std::size_t slot, const std::string& name, FurtherSet further) {
  InputSet& set = slot_set(slot);
  const auto seed = distribution_seed(
      fmt::format("{} {}{}", name, further.number, further.noisy ? " noisy" : ""));
  const bool is_drawn = name == kDrawnDistribution;
  try {
    const auto inputs =
        host_.draw_inputs(options_.device, options_.precision,
                          name == kNearDistribution ? draw_options(set.trial()).input_seed : seed);
    if (!is_drawn && !host_.change_inputs(name, inputs, seed, further.noisy)) return false;
    if (slot < resident_) enter(set);
    set.replace_inputs(inputs);
    Distribution asked = ask(set, inputs, name, false);
    if (!asked.answers) return false;
    set.exchange_answers(*asked.answers);
    const bool exact = look_closer(set, asked.why_not);
    if (exact) raise_errors(set);
    // Inputs as the problem draws them need no such check: the trials use them without it, too.
    if (asked.why_not.empty() && !is_drawn) asked.why_not = why_not_steady(set, exact);
    set.restore();
    release_idle(set);
    return asked.why_not.empty();
  } catch (const ProblemFailure& failure) {
    if (failure.cause == kDoesNotFit) throw;  // lack of memory excuses no wrong answer
    return false;
  }
}

double JudgedProblem::equal_sum_error() {
  if (!added_up_) {
    InputSet& set = slot_set(0);
    set.restore();
    added_up_ = host_.added_up(set.model(), set.objects());
    set.restore();
  }
  return std::min(kMostSumError, static_cast<double>(*added_up_) * kHalfDigit);
}

/// The reference's answers to `inputs` of a distribution, which the set has already copied.
JudgedProblem::Distribution JudgedProblem::ask(InputSet& set, const std::vector<Argument>& inputs,
                                               const std::string& name, bool confirmed) {
  Distribution distribution;
  distribution.confirmed = confirmed;
  set.restore();
  Answers answers = set.answer(host_, inputs, errors_);
  const bool finite = all_finite(answers.outputs);
  const bool may_be_odd =
      std::ranges::find(kNonFiniteDistributions, name) != kNonFiniteDistributions.end();
  if (finite ? !is_defined(inputs, answers.outputs)
             : !may_be_odd || !tells_beside(inputs, answers)) {
    distribution.why_not = "the reference is not finite";
    return distribution;
  }
  for (ExpectedOutput& expected_output : answers.expected_outputs) {
    if (finite) break;
    expected_output.value = expected_output.value.contiguous();
    expected_output.non_finite = true;
  }
  if (name == kWholeDistribution && all_whole(answers.outputs))
    for (ExpectedOutput& expected_output : answers.expected_outputs)
      if (expected_output.value.is_floating_point())
        expected_output.whole = whole_tolerance(expected_output.value);
  if (name == kCoarseDistribution)
    for (ExpectedOutput& expected_output : answers.expected_outputs)
      expected_output.slack = kCoarse;
  if (std::ranges::find(kLargeDistributions, name) != kLargeDistributions.end())
    for (ExpectedOutput& expected_output : answers.expected_outputs) expected_output.slack = kLarge;
  distribution.answers = std::move(answers);
  return distribution;
}

void JudgedProblem::give(InputSet& set, Distribution& distribution) {
  Answers answers = *distribution.answers;
  if (!distribution.is_kept) {
    const std::size_t bytes = bytes_of(answers.outputs) + bytes_of(answers.written);
    const bool is_large = bytes > kKeptBytes;
    distribution.is_kept = !is_large || kept_bytes_ + bytes <= most_kept_bytes_;
    distribution.large_bytes = distribution.is_kept && is_large ? bytes : 0;
    kept_bytes_ += distribution.large_bytes;
    if (!distribution.is_kept) distribution.answers.reset();
  }
  set.exchange_answers(answers);
}

bool JudgedProblem::confirm_distribution(std::size_t slot, const std::string& name) {
  Distribution& distribution = distributions_[name];
  InputSet& set = slot_set(slot);
  try {
    const bool exact = look_closer(set, distribution.why_not);
    if (distribution.why_not.empty() && !distribution.confirmed)
      distribution.why_not = why_not_steady(set, exact);
  } catch (const ProblemFailure& failure) {
    if (failure.cause == kDoesNotFit) throw;  // lack of memory excuses no wrong answer
    distribution.why_not = failure.message;
  }
  set.restore();
  distribution.confirmed = distribution.why_not.empty();
  if (!distribution.confirmed) {  // the distribution is not used again
    kept_bytes_ -= std::exchange(distribution.large_bytes, 0);
    distribution.answers.reset();
  }
  return distribution.confirmed;
}

/// Replaces a set's expected outputs by answers in double precision, if there are any.
bool JudgedProblem::look_closer(InputSet& set, std::string& why_not) {
  const auto exact = host_.exact_outputs(set.model(), objects_of(own_arguments(set)));
  const bool non_finite = std::ranges::any_of(set.expected_outputs(), &ExpectedOutput::non_finite);
  if (exact.empty()) {
    if (non_finite)
      why_not =
          "the reference does not run in double precision, so nothing confirms its non-finite "
          "values";
    return false;
  }
  auto expected_outputs = expected_outputs_of(set.expected(), exact, {});
  for (std::size_t i = 0; i < expected_outputs.size(); ++i) {
    if (expected_outputs[i].value.is_floating_point() && !expected_outputs[i].eager_error)
      why_not = "the reference's own rounding error is too large";
    expected_outputs[i].whole = set.expected_outputs()[i].whole;
    expected_outputs[i].slack = set.expected_outputs()[i].slack;
    expected_outputs[i].non_finite = set.expected_outputs()[i].non_finite;
  }
  set.replace_expected_outputs(std::move(expected_outputs));
  return true;
}

/// Raises the reference's own errors to the largest with these inputs and with three sets that
/// differ from them by rounding. If one number decides all errors, as an outlier's weight in a
/// softmax, the reference's error with one set may be small by luck.
void JudgedProblem::raise_errors(InputSet& set) {
  constexpr int kFurtherRoundings = 3;
  auto expected_outputs = set.expected_outputs();
  for (int rounding = 1; rounding <= kFurtherRoundings; ++rounding) {
    const auto inputs = host_.nudged(own_arguments(set), false, rounding);
    const auto exact = host_.exact_outputs(set.model(), inputs);
    const auto others = expected_outputs_of(host_.forward(set.model(), inputs), exact, {});
    for (std::size_t i = 0; i < std::min(others.size(), expected_outputs.size()); ++i)
      if (others[i].eager_error && expected_outputs[i].eager_error)
        expected_outputs[i].eager_error =
            std::max(*expected_outputs[i].eager_error, *others[i].eager_error);
  }
  set.replace_expected_outputs(std::move(expected_outputs));
}

/// Why another answer may be as good as the set's: rounding errors change it. Empty: none is.
std::string JudgedProblem::why_not_steady(InputSet& set, bool exact) {
  const auto inputs = host_.nudged(own_arguments(set), exact);
  const auto nudged =
      exact ? host_.exact_outputs(set.model(), inputs) : host_.forward(set.model(), inputs);
  for (std::size_t i = 0; i < set.expected_outputs().size(); ++i) {
    const at::Tensor& value = set.expected_outputs()[i].value;
    if (i >= nudged.size() || nudged[i].sizes() != value.sizes())
      return "a rounding error changes the answer's shape";
    const auto type = set.expected()[i].scalar_type();
    const auto rounded = [&](const at::Tensor& part, std::int64_t) {
      return part.to(value.scalar_type());  // excuses no non-finite deviations
    };
    const auto difference =
        compare(value, nudged[i], kSteady * tolerance_for(options_.precision, type),
                comparison_rules().front(), rounded);
    if (difference.wrong_elements > 0) return "a rounding error changes the answer";
  }
  return {};
}

std::map<std::string, std::string> JudgedProblem::distributions_left_out() const {
  std::map<std::string, std::string> reasons;
  if (distributions().empty()) return reasons;
  for (const auto& [name, distribution] : distributions_)
    if (!distribution.why_not.empty()) reasons[name] = distribution.why_not;
  for (const auto& name : no_room_) reasons[name] = "it did not fit into memory";
  return reasons;
}

}  // namespace kbench::worker
