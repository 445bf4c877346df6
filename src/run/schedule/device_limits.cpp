// SPDX-License-Identifier: MIT
#include "run/schedule/device_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace kbench::run {
namespace {

constexpr const char* kCandidate = "candidate";

bool has_flag(const Record& record, std::string_view flag) {
  return std::ranges::find(record.flags, flag) != record.flags.end();
}

/// The shortest time of a subject's call by any clock. Includes untrusted times: the candidate's
/// process reports the GPU's records.
double shortest_claim_ms(const Record& record, const SideTiming& side) {
  double shortest = side.median_ms;
  const auto add = [&](const MaybeNumber& claim) {
    if (claim) shortest = std::min(shortest, *claim);
  };
  add(side.wall_ms);
  // With an incomplete trace, these times miss part of a call.
  if (!has_flag(record, "trace_incomplete")) {
    add(side.span_ms);
    add(side.busy_ms);
  }
  return shortest;
}

void refuse(Record& record, double time_ms, double write_ms, std::uint64_t written_bytes,
            const Peaks& peaks) {
  record.outcome = Outcome::kCheat;
  record.stage = Stage::kTiming;
  record.cause = kFasterThanMemory;
  record.message = fmt::format(
      "a call took {:.4g} ms, but writing its {} output bytes at {:.4g} GB/s takes {:.4g} ms, even "
      "if the L2 cache holds {:.4g} MB of them",
      time_ms, written_bytes, peaks.memory_bytes_s / 1e9, write_ms, peaks.l2_bytes / 1e6);
  record.timing.reset();
  record.speedup.clear();
  record.sol.reset();
}

/// Compares the time with the work of a call, on a device with known peaks.
void hold_against_peaks(Record& record, const ReferenceWork& reference, const Peaks& peaks,
                        const std::optional<Peaks>& measured, bool cold_cache) {
  const double time_ms = record.timing->sides.at(kCandidate).median_ms;
  const std::optional<LeastWork>& work = reference.work;
  if (work && measured)
    record.sol->share_measured =
        speed_of_light(*work, measured_over(peaks, *measured), time_ms).share;
  // A reference that could not be traced may return views as outputs, which need no writes.
  const LeastWork written{.written_bytes = work ? work->written_bytes : reference.output_bytes};
  const double write_ms = least_write_ms(written, peaks);
  // A time of a call alone is too rough for such a verdict.
  if (work && time_ms < write_ms && is_own_judge(record.judge) && !record.timing->is_bounded())
    return refuse(record, time_ms, write_ms, work->written_bytes, peaks);
  bool baseline = false;
  for (const auto& [name, side] : record.timing->sides) {
    if (!(shortest_claim_ms(record, side) < write_ms)) continue;
    if (name == kCandidate) record.flags.emplace_back(kFasterThanMemory);
    baseline = baseline || name != kCandidate;
  }
  if (baseline) record.flags.emplace_back("baseline_faster_than_memory");
  if (!work) return;
  const double plausible_ms = least_call_ms(*work, peaks, cold_cache);
  if (time_ms >= plausible_ms) return;
  record.flags.emplace_back("implausible");
  record.sol->plausible_ms = plausible_ms;
}

}  // namespace

void hold_against_limits(Record& record, const ReferenceWork& reference,
                         const std::optional<Peaks>& peaks, const std::optional<Peaks>& measured,
                         bool cold_cache) {
  if (record.outcome != Outcome::kCorrect) return;
  const bool writes = reference.work && reference.work->written_bytes > 0;
  if (writes && computes_nothing(record)) record.flags.emplace_back("no_kernels");
  if (!record.timing) return;
  const auto side = record.timing->sides.find(kCandidate);
  if (side == record.timing->sides.end()) return;
  if (reference.work) record.sol = speed_of_light(*reference.work, peaks, side->second.median_ms);
  if (peaks) hold_against_peaks(record, reference, *peaks, measured, cold_cache);
}

}  // namespace kbench::run
