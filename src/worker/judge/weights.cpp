// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstring>
#include <iterator>
#include <optional>

#include "worker/compare/element_counts.hpp"
#include "worker/judge/evaluation.hpp"
#include "worker/reference/changed_weights.hpp"
#include "worker/reference/problem_values.hpp"

// How a module's model gets the reference's weights. The model is built under the reference's seed.
// If its first answer is right with the weights that its constructor made, models of all trials
// keep theirs; each trial has another seed. Otherwise models are given weights. If both ways may be
// right, the answer with the smaller error decides.
//
// The first trial's weights may hide that two tensors are exchanged, because they may be equal. So
// if a later trial is wrong, given weights are tried in it.
//
// Kernels and extensions get weights as arguments. A candidate that keeps a copy of them is wrong
// after some weights change in place.
namespace kbench::worker {

using protocol::MessageType;

namespace {

/// If other weights cause an error of at least this many tolerances, a right answer proves that the
/// weights are right. Otherwise it may be right by chance.
constexpr double kProvingError = 20;

}  // namespace

void Evaluation::build_model(std::size_t slot) {
  const protocol::ModelBody model{static_cast<std::uint32_t>(slot),
                                  static_cast<std::uint32_t>(problem_.owner(slot)),
                                  problem_.init_seed(problem_.slot_set(slot).trial()),
                                  as_built_ ? 1u : 0u, problem_.is_stateful() ? 1u : 0u};
  PackedArguments arguments;
  std::vector<int> fds;
  // An extension has no model, and the model of another set is built already.
  if (model.owner == model.set && request_.kind == CandidateKind::kModule) {
    const JudgeOptions& options = problem_.options();
    arguments =
        pack_init_arguments(problem_.host(), options.device, options.precision, model.init_seed);
    if (!arguments.is_whole) flag("init_arguments_incomplete");
    fds.push_back(arguments.file.value());
  }
  client_.send(MessageType::kModel, {reinterpret_cast<const char*>(&model), sizeof model}, fds);
  const auto message = client_.receive(MessageType::kMapped, request_.load_limit_s, "loading");
  watch_->lap("build");
  // The process reported on a shared model when its owner's slot built it.
  if (model.owner == model.set) take_built(message);
}

/// Takes the report of a process that runs the candidate's code. Ignores indices that name no
/// state.
void Evaluation::take_built(const protocol::Message& message) {
  if (message.body.size() < sizeof built_)
    throw CandidateFailure{Outcome::kCrash, "protocol",
                           "the candidate's process sent a message of wrong size"};
  std::memcpy(&built_, message.body.data(), sizeof built_);
  Record& record = verdict_.record;
  record.weights = built_.weights - 1 < std::size(protocol::kWeightRules)
                       ? std::string(protocol::kWeightRules[built_.weights - 1])
                       : std::string();
  record.unplaced.clear();
  const auto& tensors = request_.plan.tensors;
  const std::string_view rest = std::string_view(message.body).substr(sizeof built_);
  for (std::size_t at = 0;
       at + sizeof(std::uint32_t) <= rest.size() && record.unplaced.size() < protocol::kMaxUnplaced;
       at += sizeof(std::uint32_t)) {
    std::uint32_t index = 0;
    std::memcpy(&index, rest.data() + at, sizeof index);
    if (index < tensors.size() && tensors[index].role == BoundTensor::Role::kState)
      record.unplaced.push_back(tensors[index].info.name);
  }
  if (has_chosen_ && built_.weights_by_seed != 0) flag(kWeightsBySeed);
}

bool Evaluation::chooses_weights(std::size_t slot, const JudgedAnswer& answer, bool is_right) {
  if (!as_built_) {  // both ways may be within the tolerance; the smaller error decides
    has_chosen_ = true;
    if (!is_right || answer.worst_ratio > *as_built_ratio_) {
      as_built_ = true;
      build_model(slot);
      return false;
    }
  } else {
    // A model with all weights in the right places would be given the same ones.
    const bool is_given = built_.is_given != 0;
    const double error = is_given || !is_right ? 0 : problem_.error_of_other_weights();
    has_chosen_ = error == 0 || error >= kProvingError;
    if (!is_given && error < kProvingError) {
      if (error > 0) as_built_ratio_ = answer.worst_ratio;
      as_built_ = false;
      build_model(slot);
      return false;
    }
  }
  if (built_.weights_by_seed != 0) flag(kWeightsBySeed);
  return true;
}

bool Evaluation::is_right_if_given(std::size_t slot, InputSet& set) {
  if (!as_built_ || built_.is_given != 0) return false;
  as_built_ = false;
  build_model(slot);
  call(slot);
  if (judge_outputs(slot, set).wrong_elements > 0) {
    as_built_ = true;
    build_model(slot);
    call(slot);
    return false;
  }
  verdict_.record.correctness.clear();
  asked_again_.clear();
  seen_outputs_.clear();
  repeated_outputs_.clear();
  // share() then builds the models of the other sets again.
  for (CandidateSet& known : sets_) known.version = 0;
  return true;
}

void Evaluation::renew_weights(std::span<const std::size_t> slots) {
  if (request_.kind != CandidateKind::kExtension) return;
  const CandidateClient::Running running(client_);
  for (const std::size_t slot : slots) build_model(slot);
}

void Evaluation::check_weights_read(std::size_t slot) {
  // A module may have folded or packed its weights. Its model is built again under another seed
  // instead.
  if (request_.kind == CandidateKind::kModule || problem_.is_stateful()) return;
  const std::span<const std::size_t> slots(&slot, 1);
  {
    ChangedWeights weights(problem_, slots);
    if (!weights.change()) return;
    std::optional<JudgedProblem::TimedAnswers> answers;
    try {
      answers.emplace(problem_, slot);
    } catch (const ProblemFailure&) {
      return;  // the reference has no answer with such weights, or memory is short
    } catch (const c10::OutOfMemoryError&) {
      return;
    }
    InputSet& set = problem_.slot_set(slot);
    if (!all_finite(set.expected())) return;
    renew_weights(slots);
    call(slot);
    check_red_zones(slot);
    auto result = judge_outputs(slot, set);
    if (result.wrong_elements > 0) {
      problem_.look_closer(slot);
      result = judge_outputs(slot, set);
    }
    if (result.wrong_elements > 0 && !NearMisses(1).takes(result)) {
      verdict_.record.correctness.push_back(result);
      // An answer with kept weights is a number, and stays the same.
      const auto wrong = copy_outputs(slot);
      call(slot);
      const auto again = copy_outputs(slot);
      for (std::size_t i = 0; i < wrong.size(); ++i) {
        const double tolerance = set.expected_outputs().at(i).allowed(
            tolerance_for(problem_.options().precision, wrong[i].scalar_type()));
        if (compare(wrong[i], again[i], tolerance).wrong_elements > 0)
          throw CandidateFailure{
              Outcome::kNondeterministic, "repeated_call",
              fmt::format("right in the trials, then {} elements are wrong, and others in two "
                          "calls on the same input",
                          result.wrong_elements)};
        if (!all_finite({wrong[i]}))
          throw CandidateFailure{
              Outcome::kMismatch, "wrong_values",
              fmt::format(
                  "right in the trials, then {} elements are wrong, some of them not finite",
                  result.wrong_elements)};
      }
      throw CandidateFailure{
          Outcome::kMismatch, "weights_kept",
          fmt::format("right until some weights change in place, then {} elements are wrong: the "
                      "candidate keeps weights or an answer from an earlier call",
                      result.wrong_elements)};
    }
  }
  renew_weights(slots);
}

}  // namespace kbench::worker
