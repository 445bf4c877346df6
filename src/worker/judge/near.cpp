// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "worker/judge/evaluation.hpp"

// Answers that are wrong by so little that the order of additions may decide. The verdict on such
// an answer must not change from run to run, so answers to other inputs of the same distribution
// decide.
namespace kbench::worker {
namespace {

using FurtherSet = JudgedProblem::FurtherSet;

constexpr std::array<FurtherSet, 3> kFresh{{{.number = 1}, {.number = 2}, {.number = 3}}};
constexpr std::array<FurtherSet, 1> kNoisy{{{.noisy = true}}};
/// Ends the name of a distribution with noise in a record.
constexpr std::string_view kNoisySuffix = "+noise";
/// Distributions with few different values. Equal inputs become equal addends, and in a long sum of
/// equal addends all roundings go in one direction. If the answer to inputs with noise is right,
/// such a sum caused the error.
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
    judged.distribution = one.noisy ? name + std::string(kNoisySuffix) : name;
    asked_again_.push_back(judged);
    if (set.first_changed_source() != nullptr) throw problem_.input_written();
    if (judged.wrong_elements > 0) return false;
    any = true;
  }
  return any;
}

bool Evaluation::is_right_afresh(std::size_t slot, const std::string& name) {
  if (!asked_afresh_) {
    asked_afresh_ = {name, false};
    asked_afresh_->second = is_right_again(slot, name, kFresh);
    if (asked_afresh_->second) flag(kNearToleranceFlag);
  }
  return asked_afresh_->first == name && asked_afresh_->second;
}

bool Evaluation::settles_distribution(std::size_t slot, const std::string& distribution,
                                      const JudgedAnswer& judged) {
  if (is_old_output(slot, seen_outputs_)) return false;
  const bool few_valued = std::ranges::find(kFewValued, distribution) != kFewValued.end();
  const auto place = static_cast<std::ptrdiff_t>(asked_again_.size());
  const bool may_be_sum = few_valued && judged.max_rel_error && !judged.whole &&
                          *judged.max_rel_error <= problem_.equal_sum_error();
  if (may_be_sum) {
    if (!is_right_again(slot, distribution, kNoisy)) return false;
  } else if (!NearMisses(1).takes(judged) || !is_right_afresh(slot, distribution)) {
    return false;
  }
  asked_again_.insert(asked_again_.begin() + place, judged);
  return true;
}

bool Evaluation::settles_trials(std::size_t slot, std::size_t first) {
  bool right = false;
  {
    const JudgedProblem::DistributionSpan span(problem_, slot);
    right = is_right_afresh(slot, kDrawnDistribution);
  }
  share(slot);
  if (right) return true;
  auto& results = verdict_.record.correctness;
  const auto begin = asked_again_.begin() + static_cast<std::ptrdiff_t>(first);
  results.insert(results.end(), begin, asked_again_.end());
  asked_again_.erase(begin, asked_again_.end());
  return false;
}

bool Evaluation::settles_timed(std::size_t slot, const JudgedAnswer& judged) {
  if (!NearMisses(1).takes(judged)) return false;
  const CandidateClient::Running running(client_);
  asked_again_.push_back(judged);
  const bool right = is_right_afresh(slot, kDrawnDistribution);
  return right;
}

}  // namespace kbench::worker
