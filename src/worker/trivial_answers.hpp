// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "worker/input_set.hpp"

namespace kbench::worker {

/// What an answer to a problem may know without computing it.
struct Known {
  ProblemHost& host;
  InputSet& set;                         ///< what is asked; its true answers are for shapes alone
  const std::vector<at::Tensor>& first;  ///< the true outputs of the first trial
  /// Of each output the mean over draws that are no trials, and over its first dimension where it
  /// has two or more; in double precision where it is no floating tensor.
  const std::vector<at::Tensor>& means;
  int trials;
};

/// The outputs of a trivial answer, each of the shape and type of the reference's; or a sentence
/// that says why the problem has no such answer.
using Given = std::variant<std::vector<at::Tensor>, std::string>;

/// An answer that computes nothing, or little, of what a problem asks. To add one: the function,
/// and a row in trivial_answers.cpp.
struct TrivialAnswer {
  std::string_view name;
  Given (*give)(const Known& known);
};
std::span<const TrivialAnswer> trivial_answers();

}  // namespace kbench::worker
