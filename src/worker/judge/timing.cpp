// SPDX-License-Identifier: MIT
#include "worker/timing/timing.hpp"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "worker/judge/evaluation.hpp"
#include "worker/reference/changed_weights.hpp"

// The second part of an evaluation, after correctness: times all subjects and checks outputs of
// timed calls. On a GPU the gate times them (gate.cpp), on a CPU timed_calls.cpp.
namespace kbench::worker {
namespace {

/// Limits of the calls of each subject that are made in addition to the timed ones.
constexpr double kFurtherBudget_ms = 20;
constexpr int kMostFurtherCalls = 5;
/// The least part of a block with an open gate that is its calls' time. The rest is the request.
constexpr double kLeastOfBlock = 0.1;
/// A few launches can explain a shorter idle time.
constexpr double kLeastIdle_ms = 0.1;

int further_calls(double call_ms) {
  return static_cast<int>(std::clamp<double>(kFurtherBudget_ms / call_ms, 1, kMostFurtherCalls));
}

}  // namespace

bool Evaluation::on_gpu() const { return problem_.options().device != "cpu"; }

// Without a GPU, a flush only adds noise to the judge's times.
bool Evaluation::flushes() const { return problem_.options().cold_cache && on_gpu(); }

void Evaluation::run_timing() {
  client_.resume();
  for (std::size_t slot = 0; slot < sets_.size(); ++slot) share(slot);
  client_.stop();
  const JudgedProblem::TimedSpan span(problem_);
  // The owners of the models come first, because the timed slots use these models.
  const auto timed = problem_.timed_slots();
  std::vector<std::size_t> with_weights;
  with_weights.reserve(2 * timed.size());
  for (const std::size_t slot : timed) with_weights.push_back(problem_.owner(slot));
  // Until the outputs are checked, the weights stay as they were in the calls.
  std::optional<ChangedWeights> weights;
  if (request_.kind != CandidateKind::kModule) weights.emplace(problem_, with_weights);
  with_weights.insert(with_weights.end(), timed.begin(), timed.end());
  change_weights_ = [&] {
    if (weights && weights->change()) renew_weights(with_weights);
  };
  verdict_.failed_baselines = problem_.failed_baselines();
  const auto run = on_gpu() ? time_on_gpu() : time_on_cpu();
  if (!verdict_.failed_baselines.empty()) flag("baseline_failed");
  refuse_written();
  client_.resume();
  if (run) note_times(*run);
}

std::optional<TimedRun> Evaluation::time_on_cpu() {
  std::vector<TimedSide> sides;
  for (const auto& baseline : problem_.baselines())
    sides.push_back({baseline, [this] { return time_reference(); }});
  auto run = time_sides(std::move(sides), [this] { return time_call(); });
  check_timed_outputs();
  watch_->lap("timed_outputs");
  return run;
}

void Evaluation::warm_up() {
  client_.resume();
  if (!watch_) {
    watch_.emplace(verdict_.phases_s);
    client_.receive(protocol::MessageType::kLoaded, request_.load_limit_s, "loading");
  }
  for (std::size_t slot = 0; slot < sets_.size(); ++slot) {
    // In order, so that the trials' slots come first: timed slots use their models.
    if (!share(slot) || problem_.owner(slot) != slot) continue;
    if (gate_) gate_->ready_calls = 0;
    called_ = false;  // each model may be compiled in its first call
    call(slot);
  }
  client_.stop();
}

void Evaluation::prepare_baselines() {
  if (!on_gpu() || by_kernelbench_) return;
  for (const auto& [name, process] : *baselines_) {
    if (!process->why_failed_.empty()) continue;
    process->why_not_now_.clear();
    try {
      process->warm_up();
    } catch (const CandidateFailure& failure) {
      auto& why =
          failure.outcome == Outcome::kOutOfMemory ? process->why_not_now_ : process->why_failed_;
      why = fmt::format("{}: {}", failure.cause, failure.message);
    } catch (const ProblemFailure& failure) {
      process->why_not_now_ = failure.message;
    } catch (const c10::OutOfMemoryError&) {
      process->why_not_now_ = "memory is too short for its process";
    }
    // What it got so far may be incomplete.
    if (!process->why_not_now_.empty())
      for (CandidateSet& set : process->sets_) set = {};
    process->client_.stop();
  }
  watch_->lap("baselines");
}

std::optional<TimedRun> Evaluation::time_on_gpu() {
  std::optional<TimedRun> run;
  try {
    std::optional<bool> alone;
    bool was_late = false;
    while (!run) {
      try {
        if (!alone) alone = open_gates();
        if (*alone) open_alone();
        run = time_gates();
      } catch (const NoSuchTimes& none) {
        const bool lost_one = std::ranges::any_of(timed_baselines_, [](const auto& baseline) {
          return !baseline.second->why_failed_.empty();
        });
        if (lost_one) {
          // Again without that baseline. Each is lost only once.
          choose_baselines();
          if (!alone || !*alone) alone.reset();
          continue;
        }
        if (alone && !*alone && none.flag == "gate_synchronizes" && !was_late) {
          // A busy host may have been late once.
          was_late = true;
          alone.reset();
          continue;
        }
        // The candidate's calls could not be queued after all.
        if (!alone || *alone || !is_made_alone(none.flag)) throw;
        flag(none.flag);
        alone = true;
      }
    }
  } catch (const NoSuchTimes& none) {
    flag(none.flag);
  } catch (...) {
    stop_subjects();
    throw;
  }
  stop_subjects();
  return run;
}

void Evaluation::with_baseline(Evaluation& process, const std::function<void(Evaluation&)>& work) {
  try {
    work(process);
  } catch (const CandidateFailure& failure) {
    process.why_failed_ = fmt::format("{}: {}", failure.cause, failure.message);
    throw NoSuchTimes{"gate_no_baseline"};
  }
}

void Evaluation::with_subject(const std::string& name,
                              const std::function<void(Evaluation&)>& work) {
  if (name == "candidate") return work(*this);
  with_baseline(*timed_baselines_.at(name), work);
}

void Evaluation::stop_subjects() {
  client_.stop();
  // Also those that have failed: they may still work.
  for (const auto& [name, process] : *baselines_) process->client_.stop();
}

TimedRun Evaluation::time_gates() {
  std::vector<TimedSide> sides;
  for (const auto& baseline : timed_baselines_)
    sides.push_back(
        {baseline.first, [this, process = baseline.second] { return time_gated(*process); }});
  TimedRun run = time_sides(std::move(sides), [this] {
    if (has_host_code() && is_looked_before()) trace_gated_block();
    return time_gated(*this);
  });
  // Before any further call, because such calls overwrite the outputs and count in no score.
  check_timed_outputs();
  count_late_ends(run);
  compare_with_single_calls(run);
  watch_->lap("timed_outputs");
  try {
    take_caller_times(run);
    take_records(run);
  } catch (const NoSuchTimes&) {
    // The record then lacks these times.
  }
  note_gate();
  return run;
}

TimedRun Evaluation::time_sides(std::vector<TimedSide> sides,
                                const std::function<double()>& measure) {
  sides.push_back({"candidate", [&] {
                     // The candidate may know the answer with weights that it has seen.
                     change_weights_();
                     return measure();
                   }});
  TimingLimits limits;
  limits.budget_s = problem_.options().timing_budget_s;
  limits.rough = !on_gpu();  // the time is only reported and need not be precise
  TimedRun run = measure_sides(sides, limits, [&] { return problem_.device().state(); });
  watch_->lap("timing");
  return run;
}

void Evaluation::take_caller_times(const TimedRun& run) {
  // Calls that cannot be queued were timed with their host code.
  if (is_alone_) {
    for (const auto& [name, times] : run.measurements) further_[name].wall_ms = median(times);
    return;
  }
  const auto calls = static_cast<double>(gate_slots_.size());
  const auto usual_ms = [](Evaluation& process, std::span<const std::size_t> slots, int blocks) {
    std::vector<double> times;
    times.reserve(static_cast<std::size_t>(blocks));
    for (int i = 0; i < blocks; ++i) times.push_back(process.open_block_ms(slots));
    process.client_.stop();
    return median(std::move(times));
  };
  double empty_ms = 0;
  with_baseline(*calibrator_,
                [&](Evaluation& process) { empty_ms = usual_ms(process, {}, kMostFurtherCalls); });
  for (const auto& [name, times] : run.measurements)
    with_subject(name, [&, &times = times, &name = name](Evaluation& subject) {
      const int blocks = further_calls(calls * median(times));
      const double block_ms = usual_ms(subject, gate_slots_, blocks);
      further_[name].wall_ms = std::max(block_ms - empty_ms, kLeastOfBlock * block_ms) / calls;
    });
}

void Evaluation::take_records(const TimedRun& run) {
  for (const auto& [name, times] : run.measurements) {
    const int calls = further_calls(median(times));
    std::optional<DeviceTimes> seen;
    with_subject(name, [&](Evaluation& subject) {
      seen = subject.recorded_times(gate_slots_.front(), calls);
    });
    if (!seen) continue;
    further_[name].span_ms = seen->span_ms;
    further_[name].busy_ms = seen->busy_ms;
  }
}

void Evaluation::note_times(TimedRun run) {
  verdict_.raw_ms.insert(run.measurements.begin(), run.measurements.end());
  note_states(run);
  set_throttled_aside(run);
  for (const auto& [side, single_ms] : single_times_) run.measurements[side] = single_ms;
  Timing timing;
  timing.method = !on_gpu() ? "wall" : is_alone_ ? "bounded" : kGatedMethod;
  timing.trust = is_alone_ ? "bounded" : "own_clock";
  const auto& candidate = run.measurements.at("candidate");
  for (const auto& [name, measurements] : run.measurements) {
    SideTiming& side = timing.sides[name] = summarize(measurements);
    std::vector<double> clocks;
    for (const DeviceState& then : run.states.at(name)) clocks.push_back(then.clock_mhz);
    if (const double clock = median(clocks); clock > 0) side.clock_mhz = clock;
    side.wall_ms = further_[name].wall_ms;
    side.span_ms = further_[name].span_ms;
    side.busy_ms = further_[name].busy_ms;
  }
  // In the order in which they were asked for.
  if (on_gpu())
    for (const auto& baseline : problem_.baselines())
      if (const auto times = run.measurements.find(baseline); times != run.measurements.end())
        verdict_.record.speedup.push_back(speedup_of(baseline, times->second, candidate));
  const SideTiming& own = timing.sides.at("candidate");
  if (own.wall_ms && own.busy_ms) {
    const double idle_ms = *own.wall_ms - *own.busy_ms;
    if (idle_ms > kLeastIdle_ms && idle_ms > *own.wall_ms / 2) flag("host_bound");
  }
  verdict_.record.timing = std::move(timing);
}

void Evaluation::note_states(const TimedRun& run) {
  bool throttled = false;
  for (const auto& [side, states] : run.states) {
    for (const DeviceState& state : states) throttled = throttled || state.throttled();
    if (states.front().clock_mhz > 0) verdict_.states[side] = states;
  }
  if (throttled) flag("throttled");
}

}  // namespace kbench::worker
