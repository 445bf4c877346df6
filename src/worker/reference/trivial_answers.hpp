// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "worker/reference/input_set.hpp"

namespace kbench::worker {

/// What a trivial answer may use: all that can be known without computing the right answer.
struct Known {
  ProblemHost& host;
  InputSet& set;                         ///< the inputs; its expected outputs may be used
                                         ///< only for their shapes and types
  const std::vector<at::Tensor>& first;  ///< the true outputs of the first trial
  /// The mean of each output over draws that are not trials. If the output has two or more
  /// dimensions, also over the first. In double precision if the output is not floating.
  const std::vector<at::Tensor>& means;
  int trials;
};

/// The outputs of a trivial answer, each of the shape and type of the reference's; or a sentence
/// that says why the problem has no such answer.
using Given = std::variant<std::vector<at::Tensor>, std::string>;

/// What a trivial answer is made of.
enum class MadeOf {
  kNothing,     ///< numbers that are the same for every problem
  kOtherDraws,  ///< Known::means
  kFirstTrial,  ///< Known::first
  kInputs,      ///< the inputs of the call
  kReference,   ///< a call of the reference in another way; this answer does compute
};

/// An answer that computes little or nothing of the problem. To add one: the function, and a row in
/// trivial_answers.cpp.
struct TrivialAnswer {
  std::string_view name;
  MadeOf made_of;
  Given (*give)(const Known& known);
};
std::span<const TrivialAnswer> trivial_answers();

/// What `input` gives for an output: the first input of its type and shape, else of its type and
/// number of elements; null if there is none.
const at::Tensor* input_for(const InputSet& set, const at::Tensor& output);

}  // namespace kbench::worker
