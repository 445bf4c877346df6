// SPDX-License-Identifier: MIT
#include "worker/compare.hpp"
#include "worker/judged_problem.hpp"

// The part of a judged problem that tells what a right answer says of a candidate's weights.
namespace kbench::worker {
namespace {

/// Whether outputs would be taken for an answer to the inputs of a set.
bool is_answer(const InputSet& set, const std::vector<at::Tensor>& outputs,
               const std::string& precision) {
  const auto& truths = set.truths();
  if (outputs.size() != truths.size()) return false;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Truth& truth = truths[i];
    if (outputs[i].sizes() != truth.value.sizes()) return false;
    const double tolerance = tolerance_for(precision, outputs[i].scalar_type());
    if (truth.compared(outputs[i], truth.allowed(tolerance)).wrong_elements > 0) return false;
  }
  return true;
}

}  // namespace

bool JudgedProblem::weights_tell() {
  if (weights_tell_) return *weights_tell_;
  // Those of a trial that there is not.
  const auto other = static_cast<std::uint32_t>(options_.trials);
  InputSet& set = slot_set(0);
  const auto is_right = [&](const pybind11::object& model, const std::vector<Argument>& inputs) {
    return is_answer(set, host_.forward(model, objects_of(inputs)), options_.precision);
  };
  bool tells = true;
  try {
    tells = !is_right(host_.build_model(options_.device, options_.precision, init_seed(other)),
                      own_arguments(set)) &&
            !is_right(set.model(), host_.draw_inputs(options_.device, options_.precision,
                                                     draw_options(other).input_seed));
  } catch (const ProblemFailure&) {
    // With other weights or inputs it has no answer, or no room for one.
  }
  set.restore();
  weights_tell_ = tells;
  return tells;
}

}  // namespace kbench::worker
