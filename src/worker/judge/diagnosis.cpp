// SPDX-License-Identifier: MIT
#include <ATen/ATen.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "worker/compare/compare.hpp"
#include "worker/compare/element_counts.hpp"
#include "worker/judge/evaluation.hpp"
#include "worker/reference/judging.hpp"

// Further details of a wrong answer, for messages. They change no outcome.
namespace kbench::worker {
namespace {

/// "4.7e-4", "1e-4": at most two digits, without fmt's zeros.
std::string short_number(double value) {
  std::string text = fmt::format("{:.1e}", value);
  const std::size_t e = text.find('e');
  std::string digits = text.substr(0, e);
  if (digits.ends_with(".0")) digits.resize(digits.size() - 2);
  return fmt::format("{}e{}", digits, std::stoi(text.substr(e + 1)));
}

/// During its lifetime, a model of the judge is in eval mode.
class EvalModeSpan {
 public:
  EvalModeSpan(ProblemHost& host, const pybind11::object& model)
      : host_(host), switched_(host.enter_eval_mode(model)) {}
  ~EvalModeSpan() {
    try {
      host_.leave_eval_mode(switched_.parts);
    } catch (const ProblemFailure&) {
      // Only attributes of the problem's own modules are set, so only the problem's code can fail.
    }
  }
  EvalModeSpan(const EvalModeSpan&) = delete;
  EvalModeSpan& operator=(const EvalModeSpan&) = delete;

  bool switched_any() const { return pybind11::len(switched_.parts) > 0; }
  bool has_running_statistics() const { return switched_.has_running_statistics; }

 private:
  ProblemHost& host_;
  SwitchedToEval switched_;
};

/// During its lifetime, a set has other answers of the reference.
class OtherAnswers {
 public:
  OtherAnswers(InputSet& set, Answers answers) : set_(set), answers_(std::move(answers)) {
    set_.exchange_answers(answers_);
  }
  ~OtherAnswers() { set_.exchange_answers(answers_); }
  OtherAnswers(const OtherAnswers&) = delete;
  OtherAnswers& operator=(const OtherAnswers&) = delete;

 private:
  InputSet& set_;
  Answers answers_;
};

/// True if shapes and types are equal.
bool are_alike(const std::vector<at::Tensor>& some, const std::vector<at::Tensor>& others) {
  return std::ranges::equal(some, others, [](const at::Tensor& a, const at::Tensor& b) {
    return a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type();
  });
}

}  // namespace

void Evaluation::note_tolerance(std::size_t slot, InputSet& set, const TrialResult& result,
                                bool is_first) {
  const auto outputs = outputs_in(slot);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ExpectedOutput& expected_output = set.expected_outputs().at(i);
    const bool is_rounded = outputs[i].is_floating_point() && expected_output.whole <= 0;
    if (!is_rounded && !same_bits(expected_output.value.to(outputs[i].scalar_type()), outputs[i]))
      is_off_exact_ = true;
  }
  if (!is_first || !result.first_wrong) return;
  const std::size_t wrong = result.first_wrong->output;
  if (wrong >= outputs.size() || !outputs[wrong].is_floating_point()) return;
  const double tolerance =
      tolerance_for(problem_.options().precision, outputs[wrong].scalar_type());
  allowed_error_ = set.expected_outputs()[wrong].allowed(tolerance);
}

std::optional<WrongPattern> Evaluation::pattern_of(std::size_t slot, InputSet& set,
                                                   const TrialResult& result) {
  const auto outputs = outputs_in(slot);
  if (!result.first_wrong || result.first_wrong->output >= outputs.size()) return std::nullopt;
  const std::size_t output = result.first_wrong->output;
  const ExpectedOutput& expected_output = set.expected_outputs().at(output);
  const std::string& precision = problem_.options().precision;
  const double tolerance = tolerance_for(precision, outputs[output].scalar_type());
  auto pattern =
      expected_output.pattern(without_ties(slot, output, outputs[output]),
                              expected_output.allowed(tolerance), comparison_rule(precision));
  if (pattern) pattern->output = output;
  return pattern;
}

std::string Evaluation::error_words(double worst) const {
  if (by_kernelbench_ || !allowed_error_ || !std::isfinite(worst) || worst <= *allowed_error_)
    return {};
  std::string words = fmt::format(": off by up to {}, tolerance {}", short_number(worst),
                                  short_number(*allowed_error_));
  const auto rows = precision_rows();
  const auto wide =
      std::ranges::find_if(rows, [&](const PrecisionRow& row) { return worst <= row.tolerance; });
  if (wide != rows.end() && !is_off_exact_)
    words += fmt::format("; a tolerance of {} would take it", short_number(wide->tolerance));
  return words;
}

std::string Evaluation::eval_mode_words(std::size_t slot) {
  constexpr std::string_view kFlag = "right_in_eval_mode";
  constexpr std::string_view kOption = " (--eval-mode judges both models in eval mode)";
  if (by_kernelbench_ || problem_.options().eval_mode) return {};
  try {
    InputSet& set = problem_.slot_set(slot);
    const EvalModeSpan span(problem_.host(), set.model());
    if (!span.switched_any()) return {};
    const auto own = set.own_arguments();
    if (!own) return {};
    Answers answers = set.answer(problem_.host(), *own, set.eager_errors());
    set.restore();
    // An answer that is right in both modes does not show which mode the candidate uses.
    if (!are_alike(answers.outputs, set.expected()) ||
        are_right(set.expected_outputs(), answers.outputs, problem_.options().precision))
      return {};
    const OtherAnswers in_eval_mode(set, std::move(answers));
    const auto is_right = [&] { return judge_outputs(slot, set).wrong_elements == 0; };
    if (is_right()) {
      flag(kFlag);
      return fmt::format("; {}{}",
                         span.has_running_statistics()
                             ? "the candidate uses running statistics, but the reference is in "
                               "training mode and uses the batch's"
                             : "the answer equals the reference's in eval mode, but the reference "
                               "is in training mode",
                         kOption);
    }
    if (request_.kind != CandidateKind::kModule) return {};
    problem_.device().synchronize();
    send_call(slot, protocol::CallMode::kEvalMode);
    if (!is_right()) return {};
    flag(kFlag);
    return fmt::format("; the answer is right if both models are in eval mode{}", kOption);
  } catch (const CandidateFailure&) {
    // The outcome stays `mismatch`, whatever happens here.
  } catch (const ProblemFailure&) {
  } catch (const c10::Error&) {
  }
  return {};
}

}  // namespace kbench::worker
