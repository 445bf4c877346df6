// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "record/baseline.hpp"
#include "worker/judge/evaluation.hpp"
#include "worker/timing/timing.hpp"

// Checks of times by the judge's own clock. A candidate's process can overwrite its clock, the
// driver's functions and its own messages, but it cannot make the judge's clock slower. Also other
// checks of times, which apply to all subjects.
namespace kbench::worker {
namespace {

constexpr int kEmptyCalls = 5;

constexpr int kFloorCalls = 11;
/// A time of at most this many empty kernels depends more on the launch than on the kernel.
constexpr double kLaunchBound = 1.5;

/// The least fraction of a time that remains after the overhead is subtracted, because every call
/// takes some time.
constexpr double kLeastOwn = 0.1;

/// Longer than the time slice of another context, after which this context runs again. On an H100,
/// probes of 3 ms found each context that had work, and probes of 2 ms did not.
constexpr double kLook_ms = 3;
/// Other work may make a baseline seem slower by at most this fraction.
constexpr double kMostShared = 0.05;

/// Limits of the calls of each subject for SideTiming::wall_ms.
constexpr double kWallBudget_ms = 20;
constexpr int kMostWallCalls = 10;
/// A few launches can explain a shorter idle time.
constexpr double kLeastIdle_ms = 0.1;
/// A time above the wall time by more than this factor means that one of the two clocks is wrong.
constexpr double kWallSlack = 1.05;
/// The most by which a time may differ from the span of the device's own records. The records are
/// of other calls, and recording a kernel takes time.
constexpr double kSpanSlack = 0.1;
constexpr double kSpanSlack_ms = 0.005, kSpanSlackOfLaunch_ms = 0.002;

}  // namespace

bool Evaluation::tells_its_times() const { return has_host_code() && !gated_; }

bool Evaluation::flushes() const {
  // If no GPU is timed, a flush only adds noise to the judge's times.
  return problem_.options().cold_cache && problem_.device().timing_method() != "wall";
}

void Evaluation::poison_outputs(std::span<const std::size_t> slots) {
  const Poison poison = poisons_.next_timed();
  for (const std::size_t slot : slots) sets_[slot].poison = poison;
  if (!tells_its_times()) return;
  // If memory has few sets, several calls of a block use the same one.
  for (const std::size_t slot : std::set(slots.begin(), slots.end()))
    for (const auto& work : sets_[slot].work)
      problem_.device().fill(work.buffer.data(), poison_byte(poison), work.buffer.size_bytes());
}

/// Copies outputs as the process of a module or an extension does after each call.
void Evaluation::copy_as_kept(std::size_t from, std::size_t to) {
  auto& device = problem_.device();
  for (std::size_t i = 0; i < sets_[from].work.size(); ++i) {
    const SharedBuffer& source = sets_[from].work[i].buffer;
    const SharedBuffer& target = sets_[to].work[i].buffer;
    if (from != to) {
      device.copy(target.data(), source.data(), source.size_bytes());
    } else {
      // If memory has only one set, copies half of the buffer to the other half and back.
      const std::size_t half = source.size_bytes() / 2;
      device.copy(source.data() + half, source.data(), half);
      device.copy(source.data(), source.data() + half, half);
    }
  }
}

double Evaluation::empty_call_ms(bool kept) {
  auto& device = problem_.device();
  const auto timed = problem_.timed_slots();
  InputSet& set = problem_.slot_set(timed.front());
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kEmptyCalls; ++i) {
    device.synchronize();
    const auto start = protocol::Clock::now();
    set.restore();
    if (flushes()) device.flush_cache();
    device.time_ms([&] {
      if (kept) device.synchronize();
    });
    if (kept) {
      copy_as_kept(timed.front(), timed.back());
      device.synchronize();
    }
    const std::chrono::duration<double, std::milli> took = protocol::Clock::now() - start;
    least = std::min(least, took.count());
  }
  return least;
}

/// Measures the part of a wall time that is not the calls' work. The judge does this work itself,
/// on the buffers that both processes use, while the candidate's process is stopped. That process
/// could stretch work that it is asked to do, and the longer time would then be subtracted from its
/// wall time.
///
/// The overhead is the shortest of several times, because disturbances add to a time. If the
/// overhead is too small, an honest time may stay unconfirmed. If it is too large, a process can
/// hide work in it. Work left on the GPU could disturb even the shortest time; look_for_others()
/// detects it.
///
/// The overhead leaves out what depends on the candidate: restoring buffers of its own model, and
/// the time until its process wakes up.
void Evaluation::calibrate_walls() {
  walls_.clear();
  calibration_look_ = baseline_look_ = {};
  look_for_others(calibration_look_);
  const double own_ms = empty_call_ms(false);
  for (const auto& baseline : problem_.baselines()) walls_[baseline].overhead_ms = own_ms;
  walls_["candidate"].overhead_ms = empty_call_ms(true);
  walls_["candidate"].message_ms = echo_ms();
  look_for_others(calibration_look_);
}

void Evaluation::look_for_others(DeviceLook& so_far) {
  if (!tells_its_times() || !client_.is_stopped()) return;
  if (const auto look = problem_.device().look_for_others(kLook_ms)) so_far.add(*look);
}

bool Evaluation::is_shared() {
  if (baseline_look_.seen_ms > 0)
    verdict_.looks = {{"calibration", calibration_look_}, {"baselines", baseline_look_}};
  const double share = std::max(calibration_look_.share(), baseline_look_.share());
  if (share > 0) flag("gpu_shared");
  return share > kMostShared;
}

std::map<std::string, std::vector<double>> Evaluation::bound_times(
    const std::map<std::string, std::vector<double>>& told, Timing& timing) {
  timing.trust = !gated_ ? "own_code" : is_alone_ ? "bounded" : "own_clock";
  // Only kbench's own code took these times.
  if (!tells_its_times()) return told;
  std::map<std::string, std::vector<double>> bounds;
  for (const auto& [side, times] : told) {
    walls_.at(side).lead_ms = lead_ms();
    const auto& seen = bounds[side] = bounds_ms(walls_.at(side));
    timing.bounds[side] = {.told_ms = median(times),
                           .bound_ms = median(seen),
                           .overhead_ms = walls_.at(side).overhead_ms + lead_ms(),
                           .blocks = static_cast<std::int64_t>(seen.size())};
    verdict_.raw_ms[side + " bound"] = seen;
  }
  const auto& blocks = walls_.at("candidate").blocks;
  const int calls = blocks.empty() ? 1 : blocks.front().counted;
  const bool confirmed = confirms(bounds.at("candidate"), told.at("candidate"), calls);
  timing.trust = confirmed ? "confirmed" : "self_reported";
  // A ratio needs the same method for both times, so baselines have their bounds as well.
  return confirmed ? told : bounds;
}

std::optional<double> Evaluation::floor_ms() {
  if (gated_) return std::nullopt;
  auto& device = problem_.device();
  if (!device.launch_empty()) return std::nullopt;
  std::vector<double> times;
  for (int i = 0; i < kFloorCalls; ++i) {
    if (flushes()) device.flush_cache();
    const auto call = [&] {
      device.launch_empty();
      if (tells_its_times()) device.synchronize();
    };
    std::vector<double> seen;
    device.time_by(clock_, call, held_, seen);
    if (seen.empty()) return std::nullopt;
    times.push_back(seen.front());
  }
  return median(std::move(times));
}

std::map<std::string, double> Evaluation::wall_times(const std::vector<TimedSide>& sides,
                                                     const TimedRun& run) {
  std::map<std::string, double> walls;
  const auto before = std::exchange(clock_, protocol::TimeClock::kHost);
  is_aside_ = true;
  for (const auto& side : sides) {
    const double calls = kWallBudget_ms / median(run.measurements.at(side.name));
    const int most = std::min(kMostWallCalls, side.max_counted);
    const Block block{0, static_cast<int>(std::clamp<double>(calls, 1, most))};
    walls[side.name] = median(side.measure(block));
  }
  is_aside_ = false;
  clock_ = before;
  return walls;
}

void Evaluation::take_overhead_off(TimedRun& run, Timing& timing) {
  // A reported time includes a wait for the device, which takes longer than the method's overhead.
  if (!tells_its_times() && clock_ == protocol::TimeClock::kEvents)
    timing.overhead_ms = problem_.device().overhead_ms(flushes(), held_);
  if (!timing.overhead_ms) return;
  timing.method = timing.method.str() + "_net";
  for (auto& [side, times] : run.measurements)
    for (double& ms : times) ms = std::max(ms - *timing.overhead_ms, kLeastOwn * ms);
}

void Evaluation::check_against_floor_and_wall(const Timing& timing) {
  const SideTiming& candidate = timing.sides.at("candidate");
  // A wall-clock bound includes more than a call's work.
  const bool by_device = timing.trust != "self_reported";
  const double with_overhead_ms = candidate.median_ms + timing.overhead_ms.value_or(0);
  if (by_device && with_overhead_ms <= kLaunchBound * timing.floor_ms.value_or(0))
    flag("launch_bound");
  // The device cannot work for longer than the caller waits.
  const double wall_ms = candidate.wall_ms.value_or(std::numeric_limits<double>::infinity());
  if (candidate.median_ms > kWallSlack * wall_ms) flag("time_above_wall");
  // Events and the device's records are two clocks without launch costs. They time different calls,
  // which differ on a throttled device.
  const auto& flags = verdict_.record.flags;
  const bool throttled = std::ranges::find(flags, "throttled") != flags.end();
  if (timing.method.str().starts_with("events_held") && candidate.span_ms && !throttled) {
    const double slack_ms = kSpanSlack * *candidate.span_ms + kSpanSlack_ms +
                            kSpanSlackOfLaunch_ms * static_cast<double>(verdict_.record.launches);
    if (std::abs(candidate.median_ms - *candidate.span_ms) > slack_ms) flag("span_differs");
  }
  // The reported time of a candidate's process also includes its host code.
  const auto bound = timing.bounds.find("candidate");
  const double waits_ms =
      bound != timing.bounds.end() ? bound->second.told_ms : candidate.wall_ms.value_or(0);
  const double idle_ms = waits_ms - candidate.busy_ms.value_or(waits_ms);
  if (idle_ms > kLeastIdle_ms && idle_ms > waits_ms / 2) flag("host_bound");
}

}  // namespace kbench::worker
