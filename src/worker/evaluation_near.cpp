// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "worker/evaluation.hpp"

// Answers that are wrong by so little that the order of additions may decide. Whether such an
// answer is right must not differ from run to run, so other inputs of the same distribution decide.
namespace kbench::worker {
namespace {

using FurtherSet = JudgedProblem::FurtherSet;

constexpr std::array<FurtherSet, 3> kFresh{{{.number = 1}, {.number = 2}, {.number = 3}}};
constexpr std::array<FurtherSet, 1> kNoisy{{{.noisy = true}}};
constexpr std::string_view kFlag = "near_tolerance";
/// In a record the name of a distribution with noise ends so.
constexpr std::string_view kNoisySuffix = "+noise";
/// Distributions of few values. What a model makes of equal elements are equal addends, in a long
/// sum of which all roundings go one way. There noise says whether it is the sum that is off.
constexpr std::array<std::string_view, 3> kFewValued{"small_integers", "zeros", "denormals"};

}  // namespace

bool Evaluation::is_right_again(std::size_t slot, const std::string& name,
                                std::span<const FurtherSet> further) {
  bool any = false;
  for (const FurtherSet& one : further) {
    if (!problem_.enter_further(slot, name, one)) continue;
    call(slot);
    check_red_zones(slot);
    InputSet& set = problem_.slot_set(slot);
    JudgedAnswer judged = judge_outputs(slot, set);
    judged.family = one.noisy ? name + std::string(kNoisySuffix) : name;
    asked_again_.push_back(judged);
    if (set.first_changed_source() != nullptr) throw problem_.input_written();
    if (judged.wrong_elements > 0) return false;
    any = true;
  }
  return any;
}

bool Evaluation::is_right_afresh(std::size_t slot, const std::string& name) {
  if (std::exchange(asked_afresh_, true) || !is_right_again(slot, name, kFresh)) return false;
  flag(kFlag);
  return true;
}

bool Evaluation::settles_family(std::size_t slot, const std::string& family,
                                const JudgedAnswer& judged) {
  if (is_old_output(slot, seen_outputs_)) return false;
  const bool few_valued = std::ranges::find(kFewValued, family) != kFewValued.end();
  const auto place = static_cast<std::ptrdiff_t>(asked_again_.size());
  const bool may_be_sum = judged.max_rel_error && !judged.whole &&
                          *judged.max_rel_error <= problem_.equal_sum_error(slot);
  if (few_valued && may_be_sum) {
    if (!is_right_again(slot, family, kNoisy)) return false;
  } else if (!NearMisses(1).takes(judged) || !is_right_afresh(slot, family)) {
    return false;
  }
  asked_again_.insert(asked_again_.begin() + place, judged);
  return true;
}

bool Evaluation::settles_trials(std::size_t slot) {
  const bool right = is_right_afresh(slot, kDrawnFamily);
  problem_.leave_families(slot);
  share(slot);
  if (right) return true;
  auto& results = verdict_.record.correctness;
  results.insert(results.end(), asked_again_.begin(), asked_again_.end());
  asked_again_.clear();
  return false;
}

bool Evaluation::settles_timed(std::size_t slot, const JudgedAnswer& judged) {
  if (!NearMisses(1).takes(judged) || asked_afresh_) return false;
  const bool frozen = frozen_;
  freeze(false);
  asked_again_.push_back(judged);
  const bool right = is_right_afresh(slot, kDrawnFamily);
  freeze(frozen);
  return right;
}

}  // namespace kbench::worker
