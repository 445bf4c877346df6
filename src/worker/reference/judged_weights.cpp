// SPDX-License-Identifier: MIT
#include "worker/reference/judged_problem.hpp"
#include "worker/reference/judging.hpp"

// The part of a judged problem that decides if a right answer proves that the weights are right.
namespace kbench::worker {

bool JudgedProblem::depends_on_weights_and_inputs() {
  if (depends_on_all_) return *depends_on_all_;
  // The seeds of a trial that does not take place.
  const auto other = static_cast<std::uint32_t>(options_.trials);
  InputSet& set = slot_set(0);
  const auto is_right = [&](const pybind11::object& model, const std::vector<Argument>& inputs) {
    return are_right(set.expected_outputs(), host_.forward(model, objects_of(inputs)),
                     options_.precision);
  };
  bool depends = true;
  try {
    depends = !is_right(host_.build_model(options_.device, options_.precision, init_seed(other)),
                        own_arguments(set)) &&
              !is_right(set.model(), host_.draw_inputs(options_.device, options_.precision,
                                                       draw_options(other).input_seed));
  } catch (const ProblemFailure& failure) {
    // The reference fails with other weights or inputs, so its answer depends on them. If it only
    // lacks memory, that says nothing about the problem. The result is not stored, because another
    // candidate may leave more.
    if (failure.cause == kDoesNotFit) {
      set.restore();
      return true;
    }
  }
  set.restore();
  depends_on_all_ = depends;
  return depends;
}

}  // namespace kbench::worker
