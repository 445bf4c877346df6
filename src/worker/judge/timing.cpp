// SPDX-License-Identifier: MIT
#include "worker/timing/timing.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "record/baseline.hpp"
#include "worker/judge/evaluation.hpp"
#include "worker/reference/changed_weights.hpp"

// The second part of an evaluation, after correctness: times all subjects and checks outputs of
// timed calls. sides.cpp requests the times of each subject.
namespace kbench::worker {
namespace {

/// Limits of the calls of each subject that are traced in addition to the timed ones.
constexpr double kTracedBudget_ms = 20;
constexpr int kMostTracedCalls = 5;
/// The fewest wall-clock bounds of each subject before precise reported times may end the
/// measurement, if the budget suffices. Otherwise it could end while the bounds still differ.
constexpr std::size_t kFewestBounds = 10;
/// The fewest bounds that must remain after blocks with throttling are removed.
constexpr std::ptrdiff_t kFewestBoundsLeft = 5;

/// Number of calls of each subject that choose_lead() measures.
constexpr int kLeadCalls = 3;
/// Calls of subjects with a longer known time are not measured, because they allow kMostLead_ms. A
/// known time is by the host's clock, which includes some tenths of a millisecond of other work.
constexpr double kSurelyLong_ms = kMostLead_ms / kLeadShare + 1.5;

}  // namespace

void Evaluation::run_timing() {
  client_.resume();
  for (std::size_t slot = 0; slot < sets_.size(); ++slot) share(slot);
  client_.stop();
  gated_ = opens_gate();
  try {
    time_subjects();
  } catch (const NoSuchTimes& none) {
    if (!gated_) throw;
    flag(none.flag);
    gated_ = false;
    time_subjects();
  }
}

void Evaluation::time_subjects() {
  client_.stop();
  if (tells_its_times()) calibrate_walls();
  const JudgedProblem::TimedSpan span(problem_);
  std::vector<TimedSide> sides;
  const auto timed = problem_.timed_slots();
  const auto unseen = static_cast<int>(timed.size());
  // The owners of the models come first, because the timed slots use these models.
  std::vector<std::size_t> with_weights;
  for (const std::size_t slot : timed) with_weights.push_back(problem_.owner(slot));
  std::optional<ChangedWeights> weights;
  if (request_.kind != CandidateKind::kModule) weights.emplace(problem_, with_weights);
  with_weights.insert(with_weights.end(), timed.begin(), timed.end());
  // A process that reports its times could work ahead in discarded calls, so they also need inputs
  // of their own.
  const int most = tells_its_times() ? unseen : std::numeric_limits<int>::max();
  verdict_.failed_baselines = problem_.failed_baselines();
  for (const auto& baseline : problem_.baselines()) {
    if (!prepare_baseline(baseline)) continue;
    // All subjects have equally many calls in a block, because a call that follows another one
    // without a gap is faster: by 2 % of 8 ms on an H200.
    sides.push_back({baseline,
                     [&, baseline](Block block) { return time_baseline(baseline, block); },
                     baseline == "eager" ? problem_.reference_ms() : 0, unseen, most});
  }
  if (!verdict_.failed_baselines.empty()) flag("baseline_failed");
  // The candidate may know the answer with weights that it has seen.
  const auto time_with_other_weights = [&](Block block) {
    if (weights && !is_aside_ && weights->change()) renew_weights(with_weights);
    return time_candidate(block);
  };
  sides.push_back({"candidate", time_with_other_weights, quickest_ms_, unseen, most});
  TimingLimits limits;
  limits.budget_s = problem_.options().timing_budget_s;
  if (tells_its_times()) limits.min_blocks = kFewestBounds;
  const bool on_gpu = problem_.device().timing_method() != "wall";
  // If no GPU is timed, the time is only reported and need not be precise.
  limits.rough = !on_gpu;
  // If there is only one set, discarded calls would show the inputs of the counted calls.
  limits.discard = problem_.slots() > problem_.resident() && !gated_;
  clock_ = on_gpu ? problem_.options().clock : protocol::TimeClock::kEvents;
  if (clock_ == protocol::TimeClock::kGate && !gated_) clock_ = protocol::TimeClock::kEvents;
  // Not with host code of the candidate: its own streams could run while the default one is
  // blocked.
  held_ = problem_.options().held && !has_host_code() && on_gpu && !gated_ &&
          clock_ != protocol::TimeClock::kHost;
  choose_lead(sides);
  TimedRun run = measure(sides, limits);
  watch_->lap("timing");
  // Before any further call, because such calls overwrite the outputs and count in no score.
  check_timed_outputs();
  if (gated_) {
    count_late_ends(run);
    compare_with_single_calls(run);
  }
  watch_->lap("timed_outputs");
  if (is_shared()) return leave_untimed(run);
  std::map<std::string, double> walls;
  // For a process that reports its times, the wall-clock bounds have the host's time already.
  if (on_gpu && !tells_its_times()) walls = wall_times(sides, run);
  const auto traced = trace(sides, run);
  refuse_written();
  Timing timing;
  if (on_gpu && problem_.options().beside_kernels && tells_its_times())
    timing.beside_kernels = time_beside_kernels(sides, limits);
  watch_->lap("timing");
  client_.resume();
  timing.method = method();
  timing.floor_ms = floor_ms();
  verdict_.raw_ms = run.measurements;
  if (gated_) note_gate();
  take_overhead_off(run, timing);
  held_ = false;
  note_states(run);
  // A throttled block loses its wall-clock bound as well. Enough bounds must remain: a candidate
  // could compute nothing in some blocks, and cause throttling in the others.
  const auto fewest = tells_its_times() ? kFewestBoundsLeft : kFewestUnthrottled;
  for (const auto& [side, aside] : set_throttled_aside(run, fewest))
    if (const auto walled = walls_.find(side); walled != walls_.end())
      set_aside(walled->second, aside);
  for (const auto& [side, single_ms] : single_times_) run.measurements[side] = single_ms;
  const auto times = bound_times(run.measurements, timing);
  for (auto& [side, bound] : timing.bounds) {
    const auto told = summarize({run.measurements.at(side.str()), run.block_sizes.at(side.str())});
    bound.told_lo_ms = told.lo_ms;
    bound.told_hi_ms = told.hi_ms;
  }
  const auto& candidate = times.at("candidate");
  for (const auto& side : sides) {
    const auto& measurements = times.at(side.name);
    // There is one wall-clock bound for each block.
    const auto block = [&](const std::string& name) {
      return timing.trust == "self_reported" ? 1 : run.block_sizes.at(name);
    };
    auto& summary = timing.sides[side.name] = summarize({measurements, block(side.name)});
    std::vector<double> clocks;
    for (const DeviceState& then : run.states.at(side.name)) clocks.push_back(then.clock_mhz);
    if (const double clock = median(clocks); clock > 0) summary.clock_mhz = clock;
    if (const auto wall = walls.find(side.name); wall != walls.end())
      summary.wall_ms = wall->second;
    if (const auto seen = traced.find(side.name); seen != traced.end()) {
      summary.span_ms = seen->second.span_ms;
      summary.busy_ms = seen->second.busy_ms;
    }
    if (side.name != "candidate" && on_gpu)
      verdict_.record.speedup.push_back(
          speedup_of(side.name, {measurements, block(side.name)}, {candidate, block("candidate")}));
  }
  check_against_floor_and_wall(timing);
  verdict_.record.timing = std::move(timing);
}

void Evaluation::choose_lead(const std::vector<TimedSide>& sides) {
  lead_ms_ = 0;
  if (!tells_its_times() || clock_ != protocol::TimeClock::kEvents ||
      problem_.device().timing_method() == "wall")
    return;
  double least_ms = kMostLead_ms / kLeadShare;
  for (const TimedSide& side : sides) {
    if (side.about_ms > kSurelyLong_ms) continue;
    for (const double ms : side.measure({.discarded = kLeadCalls}))
      least_ms = std::min(least_ms, ms);
  }
  lead_ms_ = kLeadShare * least_ms;
}

double Evaluation::lead_ms() const {
  return tells_its_times() && clock_ == protocol::TimeClock::kEvents ? lead_ms_ : 0;
}

void Evaluation::leave_untimed(const TimedRun& run) {
  refuse_written();
  client_.resume();
  held_ = false;
  verdict_.raw_ms = run.measurements;
  note_states(run);
}

std::shared_ptr<const OtherTimes> Evaluation::time_beside_kernels(std::vector<TimedSide> sides,
                                                                  TimingLimits limits) {
  limits.min_blocks = 0;  // these calls have no bounds, and kbench's own code does not work ahead
  for (TimedSide& side : sides) side.max_calls = std::numeric_limits<int>::max();
  std::erase_if(sides, [](const TimedSide& side) { return side.name == "candidate"; });
  if (sides.empty()) return nullptr;
  client_.stop();
  auto asked = problem_.options().clock;
  if (asked == protocol::TimeClock::kGate) asked = protocol::TimeClock::kEvents;
  const bool held =
      std::exchange(held_, problem_.options().held && asked != protocol::TimeClock::kHost);
  const auto clock = std::exchange(clock_, asked);
  beside_kernels_ = true;
  TimedRun run = measure(sides, limits);
  Timing timing;
  timing.method = method();
  take_overhead_off(run, timing);
  set_throttled_aside(run);
  beside_kernels_ = false;
  held_ = held;
  clock_ = clock;
  OtherTimes times{.method = timing.method, .sides = {}, .overhead_ms = timing.overhead_ms};
  for (const auto& [side, measurements] : run.measurements)
    times.sides[side] = summarize({measurements, run.block_sizes.at(side)});
  return std::make_shared<const OtherTimes>(std::move(times));
}

TimedRun Evaluation::measure(const std::vector<TimedSide>& asked, const TimingLimits& limits) {
  const auto state = [&] { return problem_.device().state(); };
  while (true) {
    std::vector<TimedSide> sides = asked;
    if (gated_)
      for (TimedSide& side : sides) side.max_counted = 1;  // a gated block gives one time
    try {
      return measure_sides(sides, limits, state);
    } catch (const HoldFailed&) {
      // A ratio needs the same method for both times, so no subject has a blocked stream.
      held_ = false;
    } catch (const NoSuchTimes& none) {
      if (gated_) throw;
      clock_ = protocol::TimeClock::kEvents;
      flag(none.flag);
    }
    client_.stop();
    if (tells_its_times()) calibrate_walls();
  }
}

std::string Evaluation::method() const {
  if (gated_) return is_alone_ ? "bounded" : "gated";
  if (clock_ == protocol::TimeClock::kHost) return "wall";
  std::string method(problem_.device().timing_method());
  if (clock_ == protocol::TimeClock::kDevice)
    method = problem_.options().score == "busy" ? "cupti_busy" : "cupti";
  return held_ ? method + "_held" : method;
}

std::map<std::string, DeviceTimes> Evaluation::trace(const std::vector<TimedSide>& sides,
                                                     const TimedRun& run) {
  std::map<std::string, DeviceTimes> traced;
  const bool on_gpu = problem_.device().timing_method() != "wall";
  const protocol::TimeClock before =
      std::exchange(clock_, on_gpu ? protocol::TimeClock::kDevice : protocol::TimeClock::kEvents);
  is_aside_ = true;
  for (const auto& side : sides) {
    const bool is_candidate = side.name == "candidate";
    if (!on_gpu && !is_candidate) continue;
    const bool is_traced = is_candidate && tells_its_times();
    traced_ = is_traced ? looked_ : std::vector<DeviceTimes>();
    try {
      const double calls = kTracedBudget_ms / median(run.measurements.at(side.name));
      const int most = std::min(kMostTracedCalls, side.max_counted);
      if (on_gpu && !is_traced)
        side.measure({0, static_cast<int>(std::clamp<double>(calls, 1, most))});
    } catch (const NoSuchTimes&) {
      client_.stop();
    } catch (const HoldFailed&) {
      client_.stop();
    }
    if (traced_.empty()) continue;
    std::vector<double> spans, busy;
    for (const DeviceTimes& call : traced_) {
      spans.push_back(call.span_ms);
      busy.push_back(call.busy_ms);
    }
    traced[side.name] = {median(std::move(spans)), median(std::move(busy))};
  }
  is_aside_ = false;
  clock_ = before;
  return traced;
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
