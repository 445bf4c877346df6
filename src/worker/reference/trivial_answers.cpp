// SPDX-License-Identifier: MIT
#include "worker/reference/trivial_answers.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <optional>

namespace kbench::worker {
namespace {

/// Calls `make(output, index)` for each of the reference's outputs.
template <typename Make>
std::vector<at::Tensor> of_each(const Known& known, const Make& make) {
  std::vector<at::Tensor> outputs;
  for (const at::Tensor& output : known.set.expected())
    outputs.push_back(make(output, outputs.size()));
  return outputs;
}

/// Converts `value` to the shape and type of `output`, rounded for integers.
at::Tensor shaped(const at::Tensor& value, const at::Tensor& output) {
  const at::Tensor exact = output.is_floating_point() ? value : value.round();
  return exact.to(output.options()).expand(output.sizes()).contiguous();
}

Given zeros(const Known& known) {
  return of_each(known, [](const at::Tensor& output, std::size_t) {
    return at::zeros(output.sizes(), output.options());
  });
}

Given ones(const Known& known) {
  return of_each(known, [](const at::Tensor& output, std::size_t) {
    return at::ones(output.sizes(), output.options());
  });
}

Given input(const Known& known) {
  std::vector<at::Tensor> outputs;
  for (const at::Tensor& output : known.set.expected()) {
    const at::Tensor* fitting = input_for(known.set, output);
    if (fitting == nullptr) return "no input has an output's type and number of elements";
    outputs.push_back(fitting->view(output.sizes()));
  }
  return outputs;
}

Given constant(const Known& known) {
  return of_each(known, [&](const at::Tensor& output, std::size_t i) {
    return shaped(known.means.at(i).mean(at::kDouble), output);
  });
}

Given mean_of_another_draw(const Known& known) {
  if (std::ranges::all_of(known.means, [](const at::Tensor& mean) { return mean.numel() == 1; }))
    return "the mean of each output is one number, so this answer is the same as constant";
  return of_each(known, [&](const at::Tensor& output, std::size_t i) {
    return shaped(known.means.at(i), output);
  });
}

Given first_output(const Known& known) {
  if (known.trials < 2) return "there is only one trial, and this is its own output";
  return known.first;
}

Given half_precision(const Known& known) {
  known.set.restore();
  auto [outputs, why_not] = known.host.half_outputs(known.set.model(), known.set.objects());
  if (!why_not.empty()) return why_not;
  const auto& expected = known.set.expected();
  bool fit = outputs.size() == expected.size();
  for (std::size_t i = 0; fit && i < outputs.size(); ++i) {
    fit = outputs[i].sizes() == expected[i].sizes();
    outputs[i] = outputs[i].to(expected[i].scalar_type()).contiguous();
  }
  if (!fit) return "in a half-precision type, the reference's outputs have other shapes";
  return outputs;
}

constexpr std::array kAnswers = {
    TrivialAnswer{"zeros", MadeOf::kNothing, zeros},
    TrivialAnswer{"ones", MadeOf::kNothing, ones},
    TrivialAnswer{"input", MadeOf::kInputs, input},
    TrivialAnswer{"constant", MadeOf::kOtherDraws, constant},
    TrivialAnswer{"mean_of_another_draw", MadeOf::kOtherDraws, mean_of_another_draw},
    TrivialAnswer{"first_output", MadeOf::kFirstTrial, first_output},
    TrivialAnswer{"half_precision", MadeOf::kReference, half_precision},
};

}  // namespace

std::span<const TrivialAnswer> trivial_answers() { return kAnswers; }

const at::Tensor* input_for(const InputSet& set, const at::Tensor& output) {
  const auto first = [&](const auto& fits) -> const at::Tensor* {
    for (const Slot& slot : set.inputs())
      if (slot.source_view.scalar_type() == output.scalar_type() && fits(slot.source_view))
        return &slot.source_view;
    return nullptr;
  };
  const auto* same =
      first([&](const at::Tensor& input) { return input.sizes() == output.sizes(); });
  if (same != nullptr) return same;
  return first([&](const at::Tensor& input) { return input.numel() == output.numel(); });
}

}  // namespace kbench::worker
