// SPDX-License-Identifier: MIT
#include "worker/judge/degenerate.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "score/kernelbench.hpp"
#include "worker/compare/compare.hpp"
#include "worker/judge/audit.hpp"

namespace kbench::worker {
namespace {

/// Slower references are called only for candidates, because further calls would take too long.
constexpr double kSlowReference_ms = 5000;
/// Inspected elements of each output, spread over the whole output.
constexpr std::int64_t kInspected = 1 << 16;
/// A right answer is off by at most the tolerance times (|element| + rms), which is at most twice
/// the largest element. So two outputs with the same right answer differ by at most four times the
/// tolerance times the largest element.
constexpr double kSurely = 4;

/// Some elements of a tensor in double precision. Tensors of equal shape give the same elements.
at::Tensor looked_at(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.reshape({-1});
  const std::int64_t step = std::max<std::int64_t>((flat.numel() + kInspected - 1) / kInspected, 1);
  return flat.slice(0, 0, flat.numel(), step).to(at::kDouble).cpu().contiguous();
}

/// The largest absolute value of the finite elements; 0 if there are none.
double largest_of(const at::Tensor& tensor) {
  if (tensor.numel() == 0 || !tensor.is_floating_point()) return 0;
  const auto largest = [](const at::Tensor& some) {
    const auto [least, most] = at::aminmax(some);
    return std::max(std::abs(least.item<double>()), std::abs(most.item<double>()));
  };
  const double all = largest(tensor);
  if (std::isfinite(all)) return all;
  return largest(at::where(at::isfinite(tensor), tensor, at::zeros({}, tensor.options())));
}

/// True if no answer is right for both. `a`, `b`: looked_at() of one output, or of an answer to it.
/// `allowed`: tolerance times the largest element of either output.
bool surely_differ(const at::Tensor& a, const at::Tensor& b, double allowed) {
  if (a.sizes() != b.sizes()) return true;
  const double* x = a.const_data_ptr<double>();
  const double* y = b.const_data_ptr<double>();
  const auto count = static_cast<std::size_t>(a.numel());
  for (std::size_t i = 0; i < count; ++i) {
    if (x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]))) continue;
    if (!(std::abs(x[i] - y[i]) <= kSurely * allowed)) return true;
  }
  return false;
}

/// The data of a trial's outputs that are needed after its set is gone.
struct Looked {
  std::vector<at::Tensor> outputs;
  std::vector<double> allowed;  ///< of each output: tolerance times the largest element
};

Looked look_at(const JudgedProblem& problem, const InputSet& set) {
  Looked looked;
  for (std::size_t i = 0; i < set.expected().size(); ++i) {
    const at::Tensor& output = set.expected()[i];
    looked.outputs.push_back(looked_at(output));
    const double tolerance = tolerance_for(problem.options().precision, output.scalar_type());
    looked.allowed.push_back(set.expected_outputs().at(i).allowed(tolerance) * largest_of(output));
  }
  return looked;
}

/// True if the set's inputs may be the right answer.
bool may_be_inputs(const Looked& looked, const InputSet& set) {
  for (std::size_t i = 0; i < looked.outputs.size(); ++i) {
    const at::Tensor* input = input_for(set, set.expected()[i]);
    if (input == nullptr || surely_differ(looked.outputs[i], looked_at(*input), looked.allowed[i]))
      return false;
  }
  return true;
}

/// True if one answer may be right for both trials, although their weights differ as well.
bool may_be_alike(const Looked& a, const Looked& b) {
  if (a.outputs.size() != b.outputs.size()) return false;
  for (std::size_t i = 0; i < a.outputs.size(); ++i)
    if (surely_differ(a.outputs[i], b.outputs[i], std::max(a.allowed[i], b.allowed[i])))
      return false;
  return true;
}

/// The trivial answers that the inspected elements of two trials do not exclude.
std::vector<std::string> open_answers(JudgedProblem& problem) {
  InputSet& first = problem.trial_set(0);
  // No trivial answer writes to inputs, so none is right if the reference does.
  if (std::ranges::any_of(first.inputs(), &Slot::mutated)) return {};
  const Looked looked = look_at(problem, first);
  const bool inputs = may_be_inputs(looked, first);
  const bool alike = may_be_alike(looked, look_at(problem, problem.trial_set(1)));
  std::vector<std::string> names;
  for (const TrivialAnswer& row : trivial_answers()) {
    if (row.made_of == MadeOf::kReference) continue;
    if (row.made_of == MadeOf::kInputs ? inputs : alike) names.emplace_back(row.name);
  }
  return names;
}

std::optional<std::vector<std::string>> asked_in_full(JudgedProblem& problem,
                                                      const std::vector<std::string>& names) {
  const auto distributions = input_distributions();
  problem.forget_room();
  Audit audit(problem, names);
  audit.run(distributions);
  std::vector<std::string> passing;
  for (const auto& [name, answer] : audit.answers())
    if (answer.passes.value_or(false)) passing.push_back(name);
  const bool in_full = std::ranges::none_of(distributions, [&](const std::string& distribution) {
    return problem.lacked_room(distribution);
  });
  return passing.empty() || in_full ? std::optional(passing) : std::nullopt;
}

}  // namespace

std::optional<std::vector<std::string>> passing_trivial_answers(JudgedProblem& problem) {
  if (kernelbench_row(problem.options().precision) != nullptr) return std::nullopt;
  if (problem.reference_ms() > kSlowReference_ms) return std::nullopt;
  try {
    const auto names = open_answers(problem);
    if (names.empty()) return std::vector<std::string>();
    auto passing = asked_in_full(problem, names);
    release_idle_memory(problem.options().device);
    return passing;
  } catch (const ProblemFailure&) {
    // Candidates will get the same failure, unless memory was short only for this check.
  } catch (const c10::OutOfMemoryError&) {
  } catch (const CandidateFailure& failure) {
    if (failure.outcome != Outcome::kOutOfMemory) throw;
  }
  release_idle_memory(problem.options().device);
  return std::nullopt;
}

}  // namespace kbench::worker
