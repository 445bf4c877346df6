// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>

#include "worker/compare/compare.hpp"
#include "worker/reference/judged_problem.hpp"
#include "worker/reference/judging.hpp"

// The part of a judged problem that decides if a right answer proves that the weights are right.
namespace kbench::worker {

double JudgedProblem::error_of_other_weights() {
  if (other_weights_error_) return *other_weights_error_;
  // The seeds of a trial that does not take place.
  const auto other = static_cast<std::uint32_t>(options_.trials);
  InputSet& set = slot_set(0);
  // The largest error over its tolerance; 0 if the answer is right.
  const auto error_of = [&](const pybind11::object& model, const std::vector<Argument>& inputs) {
    const auto outputs = host_.forward(model, objects_of(inputs));
    const auto& expected = set.expected_outputs();
    if (are_right(expected, outputs, options_.precision)) return 0.0;
    double worst = 1;
    for (std::size_t i = 0; i < std::min(expected.size(), outputs.size()); ++i) {
      const double allowed =
          expected[i].allowed(tolerance_for(options_.precision, outputs[i].scalar_type()));
      if (expected[i].value.sizes() == outputs[i].sizes())
        worst = std::max(worst, expected[i].compared(outputs[i], allowed).max_rel_error / allowed);
    }
    return worst;
  };
  double error = std::numeric_limits<double>::infinity();
  try {
    error = error_of(host_.build_model(options_.device, options_.precision, init_seed(other)),
                     own_arguments(set));
    if (error_of(set.model(), host_.draw_inputs(options_.device, options_.precision,
                                                draw_options(other).input_seed)) == 0)
      error = 0;
  } catch (const ProblemFailure& failure) {
    // The reference fails with other weights or inputs, so its answer depends on them. If it only
    // lacks memory, that says nothing about the problem. The result is not stored, because another
    // candidate may leave more.
    if (failure.cause == kDoesNotFit) {
      set.restore();
      return error;
    }
  }
  set.restore();
  other_weights_error_ = error;
  return error;
}

}  // namespace kbench::worker
