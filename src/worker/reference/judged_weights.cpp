// SPDX-License-Identifier: MIT
#include "worker/reference/judged_problem.hpp"
#include "worker/reference/judging.hpp"

// The part of a judged problem that tells whether a right answer shows that weights are right.
namespace kbench::worker {

bool JudgedProblem::depends_on_weights_and_inputs() {
  if (depends_on_all_) return *depends_on_all_;
  // Those of a trial that there is not.
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
    // With other weights or inputs it has no answer. If it only lacks room, that says nothing of
    // the problem, and another candidate may leave more.
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
