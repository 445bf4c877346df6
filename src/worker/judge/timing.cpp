// SPDX-License-Identifier: MIT
#include "worker/timing/timing.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "record/baseline.hpp"
#include "worker/judge/evaluation.hpp"
#include "worker/reference/changed_weights.hpp"

// The half of an evaluation that comes after correctness: both sides timed, timed outputs checked.
// What asks each side for its times is in evaluation_sides.cpp.
namespace kbench::worker {
namespace {

/// Of each side, calls of which the device's records are read beside those that count.
constexpr double kTracedBudget_ms = 20;
constexpr int kMostTracedCalls = 5;
/// Where the judge's clock bounds times, and the budget lasts: told times that agree among
/// themselves must not end the measuring before the bounds do.
constexpr std::size_t kFewestBounds = 10;
/// Of these, those that have to be left when others are set aside.
constexpr std::ptrdiff_t kFewestBoundsLeft = 5;

/// Calls of each side that tell how long a lead may be.
constexpr int kLeadCalls = 3;
/// Whoever took so long by the host's clock, which holds some tenths of a millisecond more, can
/// have the longest.
constexpr double kSurelyLong_ms = kMostLead_ms / kLeadShare + 1.5;

}  // namespace

void Evaluation::run_timing() {
  freeze(false);
  for (std::size_t slot = 0; slot < sets_.size(); ++slot) share(slot);
  freeze(true);
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
  freeze(true);
  if (tells_its_times()) calibrate_walls();
  const JudgedProblem::TimedSpan span(problem_);
  std::vector<TimedSide> sides;
  const auto timed = problem_.timed_slots();
  const auto unseen = static_cast<int>(timed.size());
  // Those whose models the timed slots use come first.
  std::vector<std::size_t> with_weights;
  for (const std::size_t slot : timed) with_weights.push_back(problem_.owner(slot));
  std::optional<ChangedWeights> weights;
  if (request_.kind != CandidateKind::kModule) weights.emplace(problem_, with_weights);
  with_weights.insert(with_weights.end(), timed.begin(), timed.end());
  // Whoever could work ahead in calls that are discarded is asked for new answers there, too.
  const int most = tells_its_times() ? unseen : std::numeric_limits<int>::max();
  verdict_.failed_baselines = problem_.failed_baselines();
  for (const auto& baseline : problem_.baselines()) {
    if (!prepare_baseline(baseline)) continue;
    // Both sides have as many calls in a block: those that follow others without a gap are
    // faster, by 2 % of 8 ms on an H200.
    sides.push_back({baseline,
                     [&, baseline](Block block) { return time_baseline(baseline, block); },
                     baseline == "eager" ? problem_.reference_ms() : 0, unseen, most});
  }
  if (!verdict_.failed_baselines.empty()) flag("baseline_failed");
  // Of one that it has seen it may know the answer.
  const auto time_with_other_weights = [&](Block block) {
    if (weights && !is_aside_ && weights->change()) renew_weights(with_weights);
    return time_candidate(block);
  };
  sides.push_back({"candidate", time_with_other_weights, quickest_ms_, unseen, most});
  TimingLimits limits;
  limits.budget_s = problem_.options().timing_budget_s;
  if (tells_its_times()) limits.min_blocks = kFewestBounds;
  const bool on_gpu = problem_.device().timing_method() != "wall";
  // Where no GPU's time is measured, the wall clock is only told; it need not be narrowed down.
  limits.rough = !on_gpu;
  // In one and the same set the first calls would show the others' inputs.
  limits.discard = problem_.slots() > problem_.resident() && !gated_;
  // What host code of the candidate's own queues could run beside the stream that is held.
  clock_ = on_gpu ? problem_.options().clock : protocol::TimeClock::kEvents;
  if (clock_ == protocol::TimeClock::kGate && !gated_) clock_ = protocol::TimeClock::kEvents;
  held_ = problem_.options().held && !has_host_code() && on_gpu && !gated_ &&
          clock_ != protocol::TimeClock::kHost;
  choose_lead(sides);
  TimedRun run = measure(sides, limits);
  // Of a process that tells its times the bounds say what the host's clock sees.
  watch_->lap("timing");
  // Before anything else is called: of calls that are in no score nobody asks.
  check_timed_outputs();
  if (gated_) {
    count_late_ends(run);
    compare_with_single_calls(run);
  }
  watch_->lap("timed_outputs");
  if (is_shared()) return leave_untimed(run);
  std::map<std::string, double> walls;
  if (on_gpu && !tells_its_times()) walls = wall_times(sides, run);
  const auto traced = trace(sides, run);
  refuse_written();
  Timing timing;
  if (on_gpu && problem_.options().beside_kernels && tells_its_times())
    timing.beside_kernels = time_beside_kernels(sides, limits);
  watch_->lap("timing");
  freeze(false);
  timing.method = method();
  timing.floor_ms = floor_ms();
  verdict_.raw_ms = run.measurements;
  if (gated_) note_gate();
  take_overhead_off(run, timing);
  held_ = false;
  note_states(run);
  // What the judge's clock saw of a block goes with it. A median of fewer bounds would be no risk
  // for who does nothing in some blocks and has the GPU throttled in others.
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
    // Of bounds there is one for each block.
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
  freeze(false);
  held_ = false;
  verdict_.raw_ms = run.measurements;
  note_states(run);
}

std::shared_ptr<const OtherTimes> Evaluation::time_beside_kernels(std::vector<TimedSide> sides,
                                                                  TimingLimits limits) {
  limits.min_blocks = 0;  // nothing of this is bounded, and nobody works ahead
  for (TimedSide& side : sides) side.max_calls = std::numeric_limits<int>::max();
  std::erase_if(sides, [](const TimedSide& side) { return side.name == "candidate"; });
  if (sides.empty()) return nullptr;
  freeze(true);
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
      for (TimedSide& side : sides) side.max_counted = 1;  // each is many calls
    try {
      return measure_sides(sides, limits, state);
    } catch (const HoldFailed&) {
      // Never two methods in one ratio: where one side cannot be held, none is.
      held_ = false;
    } catch (const NoSuchTimes& none) {
      if (gated_) throw;
      clock_ = protocol::TimeClock::kEvents;
      flag(none.flag);
    }
    freeze(true);
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
      freeze(true);
    } catch (const HoldFailed&) {
      freeze(true);
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
