// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "kbench/counters.hpp"
#include "kbench/device_probe.hpp"
#include "kbench/interned.hpp"
#include "kbench/maybe_number.hpp"

/// How near a candidate came to what its device can do at most.
namespace kbench {

/// What one call of the reference has to move and to compute at least, whoever does it: inputs,
/// parameters and buffers read once (of what is only looked up, no more than is found), outputs
/// written once.
struct LeastWork {
  std::uint64_t read_bytes = 0, written_bytes = 0;
  /// Of products and convolutions, by FlopType, an FMA being two. All 0 where there are none, and
  /// where the same result may be had with fewer: a product with a diagonal, a product of products,
  /// one of which only a sum or a part is kept.
  std::array<std::uint64_t, kFlopTypes> flops{};
};

/// What a GPU can do at most: its memory's clock by the width of its bus, its multiprocessors at
/// their highest clock. No kernel attains all of it.
struct Peaks {
  double memory_bytes_s = 0;
  double l2_bytes = 0;  ///< not in JSON
  /// Operations a second by FlopType, on whichever pipe is the fastest for that accuracy: fp32 also
  /// as three products in tf32 (the split into high and low halves). 0: unknown.
  std::array<double, kFlopTypes> flops_s{};
};

/// None where the driver does not tell the memory's clock. Operations of architectures that are not
/// in the table are unknown.
std::optional<Peaks> peaks_of(const GpuInfo& gpu);

/// Least work, and the share of the device's limit that a candidate reached.
struct SpeedOfLight {
  LeastWork work;
  MaybeNumber limit_ms;  ///< no call is faster; none where the device's peaks are unknown
  Interned limited_by;   ///< "memory" or "compute"; empty where there is no limit
  MaybeNumber share;     ///< limit_ms over the candidate's time, 0 to 1
  /// The same of the limit that a copy and products reach on this GPU; none where nobody measured.
  MaybeNumber share_measured = {};
  /// What a call takes at least that reads its inputs and does its operations; only of candidates
  /// that took less, which have the flag `implausible`.
  MaybeNumber plausible_ms = {};
};
/// `time_ms` is a candidate's.
SpeedOfLight speed_of_light(const LeastWork& work, const std::optional<Peaks>& peaks,
                            std::optional<double> time_ms);

/// Milliseconds that writing what the L2 does not hold of the outputs takes at least: who claims
/// less has not written them.
double least_write_ms(const LeastWork& work, const Peaks& peaks);
/// Milliseconds that reading the inputs, but for what a warm L2 may hold of them, or computing
/// takes at least, by the count of the reference's own operations.
double least_call_ms(const LeastWork& work, const Peaks& peaks, bool cold_cache);

/// The same with what a copy and products were measured to reach, where they were.
Peaks measured_over(const Peaks& peaks, const Peaks& measured);

/// JSON forms. The other direction throws kbench::Error naming the faulty field.
nlohmann::json to_json(const Peaks& peaks);
Peaks peaks_from_json(const nlohmann::json& json);
nlohmann::json to_json(const LeastWork& work);
LeastWork least_work_from_json(const nlohmann::json& json);
nlohmann::json to_json(const SpeedOfLight& sol);
SpeedOfLight speed_of_light_from_json(const nlohmann::json& json);

}  // namespace kbench
