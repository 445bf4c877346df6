// SPDX-License-Identifier: MIT
#include "run/device_limits.hpp"

#include <fmt/format.h>

namespace kbench::run {

void hold_against_limits(Record& record, const std::optional<LeastWork>& work,
                         const std::optional<Peaks>& peaks, const std::optional<Peaks>& measured,
                         bool cold_cache) {
  if (record.outcome != Outcome::kCorrect || !record.timing || !work) return;
  const auto side = record.timing->sides.find("candidate");
  if (side == record.timing->sides.end()) return;
  const double time_ms = side->second.median_ms;
  record.sol = speed_of_light(*work, peaks, time_ms);
  if (!peaks || !record.sol->share) return;
  if (measured)
    record.sol->share_measured =
        speed_of_light(*work, measured_over(*peaks, *measured), time_ms).share;
  const double write_ms = least_write_ms(*work, *peaks);
  if (time_ms < write_ms && record.judge == kOwnJudge) {
    record.outcome = Outcome::kCheat;
    record.stage = Stage::kTiming;
    record.cause = "faster_than_memory";
    record.message = fmt::format(
        "a call took {:.4g} ms, and writing its {} output bytes at {:.4g} GB/s takes {:.4g} ms "
        "even "
        "if the L2 holds {:.4g} MB of them",
        time_ms, work->written_bytes, peaks->memory_bytes_s / 1e9, write_ms, peaks->l2_bytes / 1e6);
    record.timing.reset();
    record.speedup.clear();
    record.sol.reset();
    return;
  }
  const double plausible_ms = least_call_ms(*work, *peaks, cold_cache);
  if (time_ms >= plausible_ms) return;
  record.flags.emplace_back("implausible");
  record.sol->plausible_ms = plausible_ms;
}

}  // namespace kbench::run
