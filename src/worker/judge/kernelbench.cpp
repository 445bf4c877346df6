// SPDX-License-Identifier: MIT
#include "score/kernelbench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "record/baseline.hpp"
#include "worker/compare/compare.hpp"
#include "worker/judge/evaluation.hpp"
#include "worker/timing/timing.hpp"

// Judges a candidate by KernelBench's rules: one model for all trials, one call in each trial, and
// times of the candidate before those of the reference. If kbench's own rules give another outcome,
// that is a flag.
namespace kbench::worker {
namespace {

using protocol::MessageType;

/// Limit of a call in the CPU executor or in Triton's interpreter.
constexpr double kExecutorLimit_s = 60;
/// Few calls, because times without a GPU prove nothing.
constexpr int kWallCalls = 3;
/// Causes of failures in timed calls after which KernelBench still counts a candidate as correct.
constexpr std::array<std::string_view, 3> kLeftUntimed{"forward_raised", "candidate_raised",
                                                       "out_of_memory"};

}  // namespace

double Evaluation::kernelbench_time_left_s() const {
  const std::chrono::duration<double> used = protocol::Clock::now() - start_;
  // KernelBench's limit is for a GPU. Without one, calls are slower.
  const bool on_cpu = problem_.options().device == "cpu";
  const double left = on_cpu ? kExecutorLimit_s : kKernelbenchLimit_s - used.count();
  if (left <= 0)
    throw CandidateFailure{
        Outcome::kTimeout, "evaluation_limit",
        fmt::format("the evaluation took longer than KernelBench's limit of {:.3g} s",
                    kKernelbenchLimit_s)};
  return request_.asked_limit_s > 0 ? std::min(request_.asked_limit_s, left) : left;
}

/// Lets the process build its model before any inputs exist. The reference then uses the math modes
/// that the process reports.
void Evaluation::build_kernelbench_model() {
  const protocol::ModelBody body{0, 0, 0};
  client_.send(MessageType::kModel, {reinterpret_cast<const char*>(&body), sizeof body});
  const auto message = client_.receive(MessageType::kMapped, request_.load_limit_s, "loading");
  protocol::BuiltBody built{};
  if (message.body.size() < sizeof built)
    throw CandidateFailure{Outcome::kCrash, "protocol",
                           "the candidate's process sent a message of wrong size"};
  std::memcpy(&built, message.body.data(), sizeof built);
  problem_.use_math_modes(built.math_modes);
}

void Evaluation::run_kernelbench_trials() {
  build_kernelbench_model();
  bool mismatched = false;
  bool kbench_mismatch = false;
  for (std::uint32_t trial = 0; trial < problem_.timed_trial(); ++trial) {
    InputSet& set = problem_.trial_set(trial);
    const std::size_t slot = trial % problem_.resident();
    share(slot);
    call_on_next_poison(slot);
    if (request_.one_call) return;
    auto result = judge_outputs(slot, set);
    const double tolerance = tolerance_for("native", set.expected().front().scalar_type());
    mismatched = mismatched || result.wrong_elements > 0;
    kbench_mismatch = kbench_mismatch || result.max_rel_error.value_or(0) > tolerance;
    verdict_.record.correctness.push_back(std::move(result));
  }
  if (mismatched) decide_mismatch();
  if (kbench_mismatch) flag("kbench:mismatch");
}

std::vector<double> Evaluation::time_candidate_by_kernelbench(std::size_t slot, int calls) {
  const protocol::TimeBody head{static_cast<std::uint32_t>(calls), 1u, call_limit_s()};
  const auto index = static_cast<std::uint32_t>(slot);
  client_.send(MessageType::kTime,
               std::string(reinterpret_cast<const char*>(&head), sizeof head) +
                   std::string(reinterpret_cast<const char*>(&index), sizeof index));
  const auto message =
      client_.receive(MessageType::kTimes, patience_s(head.limit_s), "being timed");
  return times_of(message, static_cast<std::size_t>(calls));
}

void Evaluation::run_kernelbench_timing() {
  auto& device = problem_.device();
  const bool wall = !on_gpu();
  const int calls = wall ? kWallCalls : kKernelbenchCalls;
  InputSet& set = problem_.trial_set(problem_.timed_trial());
  const std::size_t slot = problem_.timed_trial() % problem_.resident();
  share(slot);
  std::map<std::string, std::vector<double>> measurements;
  try {
    measurements["candidate"] = time_candidate_by_kernelbench(slot, calls);
  } catch (const CandidateFailure& failure) {
    if (std::ranges::find(kLeftUntimed, failure.cause) == kLeftUntimed.end()) throw;
    return flag("timing_failed");
  }
  client_.stop();
  const std::vector<pybind11::object> arguments = set.objects();
  Timing timing;
  timing.method = wall ? "wall" : "kb_events";
  timing.trust = "self_reported";
  for (const auto& baseline : problem_.baselines()) {
    const auto model = problem_.baseline_model(baseline, slot);
    const auto& times = measurements[baseline] =
        problem_.host().time_by_kernelbench(model, arguments, std::string(device.name()), calls);
    if (wall) continue;
    verdict_.record.speedup.push_back(
        speedup_of_means(baseline, times, measurements.at("candidate")));
    if (verdict_.record.speedup.back().value > kKernelbenchExcessiveSpeedup)
      flag("excessive_speedup");
  }
  client_.resume();
  for (const auto& [side, times] : measurements) timing.sides[side] = summarize(times);
  verdict_.record.timing = std::move(timing);
  verdict_.raw_ms = std::move(measurements);
}

}  // namespace kbench::worker
