// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include "worker/reference/judged_problem.hpp"

namespace kbench::worker {

/// Some elements of the reference's parameters changed in place, in its model and in the memory
/// that candidates read: a kernel that keeps a copy of weights it was given once is wrong then.
/// Values only change places within a tensor, so that what holds for all of them still does.
/// Buffers stay: a mask may be known. Puts everything back when it goes.
class ChangedWeights {
 public:
  /// Of the models in these slots.
  ChangedWeights(JudgedProblem& problem, std::span<const std::size_t> slots);
  ~ChangedWeights();
  ChangedWeights(const ChangedWeights&) = delete;
  ChangedWeights& operator=(const ChangedWeights&) = delete;

  /// Puts the last change back and makes another one. False if there is nothing to change.
  bool change();

 private:
  struct Change {
    InputSet* set;
    std::size_t state;  ///< index into the set's state
    at::Tensor places;  ///< indices of what is changed, undefined before
    at::Tensor before;  ///< its values
  };
  void add(std::size_t slot);
  static void write(const Change& change, const at::Tensor& values);
  void put_back();

  JudgedProblem& problem_;
  std::mt19937_64 random_;
  std::vector<Change> changes_;
};

}  // namespace kbench::worker
