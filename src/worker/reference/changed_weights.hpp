// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include "worker/reference/judged_problem.hpp"

namespace kbench::worker {

/// Changes some elements of the reference's parameters in place, in its model and in the memory
/// that candidates read. A kernel that keeps a copy of earlier weights then gives wrong answers.
///
/// Elements only swap places within a tensor, so properties of all its values, such as their sign,
/// stay. Buffers are not changed, because a candidate may rely on a mask. The destructor restores
/// everything.
class ChangedWeights {
 public:
  /// Changes the models in these slots.
  ChangedWeights(JudgedProblem& problem, std::span<const std::size_t> slots);
  ~ChangedWeights();
  ChangedWeights(const ChangedWeights&) = delete;
  ChangedWeights& operator=(const ChangedWeights&) = delete;

  /// Reverts the last change and makes another one. False if no tensor can be changed.
  bool change();

 private:
  struct Change {
    InputSet* set;
    std::size_t state;  ///< index into the set's state
    at::Tensor places;  ///< indices of the changed elements; undefined before the first change
    at::Tensor before;  ///< their original values
  };
  void add(std::size_t slot);
  static void write(const Change& change, const at::Tensor& values);
  void put_back();

  JudgedProblem& problem_;
  std::mt19937_64 random_;
  std::vector<Change> changes_;
};

}  // namespace kbench::worker
