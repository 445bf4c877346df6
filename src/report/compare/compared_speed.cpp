// SPDX-License-Identifier: MIT
#include "report/compare/compared_speed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/text/text.hpp"

namespace kbench::report {
namespace {

bool is_positive(double value) { return std::isfinite(value) && value > 0; }

std::optional<Measured> measured_speedup(const Record& record, const Interned& baseline) {
  const Speedup* found = speedup_over(record, baseline.str());
  if (found == nullptr || !is_positive(found->value)) return std::nullopt;
  Measured measured{.value = found->value};
  if (is_positive(found->lo) && is_positive(found->hi)) {
    // A ratio of medians may lie outside its bootstrap interval.
    measured.lo = std::min(found->lo, found->value);
    measured.hi = std::max(found->hi, found->value);
  }
  return measured;
}

/// The reason why the times of the two records measure different things; empty if they do not.
std::string unlike_times(const Timing& a, const Timing& b) {
  if (a.method == b.method) return {};
  return printable(fmt::format("timed by {} and by {}", a.method, b.method));
}

}  // namespace

std::optional<Measured> candidate_time(const Record& record) {
  if (!record.timing) return std::nullopt;
  const auto side = record.timing->sides.find("candidate");
  return side == record.timing->sides.end() ? std::nullopt
                                            : measured_time(side->second, record.timing->method);
}

std::vector<ComparedBaseline> shared_baselines(const Record& base, const Record& other) {
  std::vector<ComparedBaseline> shared;
  for (const Speedup& entry : base.speedup) {
    const auto before = measured_speedup(base, entry.baseline);
    const auto after = measured_speedup(other, entry.baseline);
    if (!before || !after) continue;
    shared.push_back({.baseline = entry.baseline,
                      .base = *before,
                      .other = *after,
                      .ratio = ratio_between_runs(*after, *before)});
  }
  return shared;
}

Change change_of(const Measured& ratio) {
  if (!ratio.lo || !ratio.hi) return Change::kAmbiguous;
  if (*ratio.lo > 1) return Change::kFaster;
  if (*ratio.hi < 1) return Change::kSlower;
  if (*ratio.lo >= 1 / kSameRatio && *ratio.hi <= kSameRatio) return Change::kSame;
  return Change::kAmbiguous;
}

void compare_speed(ComparedSample& sample, const Record& base, const Record& other,
                   const std::string& untimed) {
  sample.change = Change::kBothCorrect;
  if (base.device == "cpu" || other.device == "cpu") {
    sample.reason = kCpuReason;
    return;
  }
  if (!sample.base_ms || !sample.other_ms) {
    sample.reason = "a record has no time";
    return;
  }
  sample.reason = untimed.empty() ? unlike_times(*base.timing, *other.timing) : untimed;
  if (!sample.reason.empty()) return;
  sample.time_ratio = ratio_between_runs(*sample.base_ms, *sample.other_ms);
  sample.baselines = shared_baselines(base, other);
  if (base.device == other.device) {
    sample.basis = Basis::kTimes;
  } else if (!sample.baselines.empty()) {
    sample.basis = Basis::kSpeedup;
  } else {
    sample.reason = "different devices, and no shared baseline";
    return;
  }
  const Measured& ratio = *sample.decisive();
  sample.change = change_of(ratio);
  if (!ratio.lo) sample.reason = "no interval: a record has no spread";
}

}  // namespace kbench::report
