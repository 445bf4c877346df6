// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "kbench/problem.hpp"

namespace kbench {

/// `--shrink`: when the sizes of a problem are reduced, and how far. Problems that have sizes for
/// the device in their sizes.json are left alone.
struct ShrinkOptions {
  enum class When : std::uint8_t { kOnCpu, kAlways, kNever };
  When when = When::kOnCpu;
  double max_bytes = 64 << 20;  ///< of inputs, parameters, buffers and outputs
  double max_flops = 1e9;       ///< of one call of the reference

  /// Whether `problem` is to be looked at, for a device class ("cpu" or "gpu").
  bool applies_to(const Problem& problem, std::string_view device_class) const;
};

/// Parses "auto" (on the CPU), "on", "off", or limits: bytes, or bytes and operations, as in
/// "16MiB" or "16M,0.5G" (k, M, G, T are powers of 1024 in bytes, of 1000 in operations). Throws
/// UsageError.
ShrinkOptions parse_shrink(std::string_view text);
/// {"when", "max_bytes", "max_flops"}: the options as a run file holds them.
nlohmann::json to_json(const ShrinkOptions& options);

/// What became of a problem that was above the limits.
struct Shrunk {
  double bytes = 0, flops = 0;            ///< now
  double full_bytes = 0, full_flops = 0;  ///< at the sizes of its file
  bool within = false;                    ///< whether it is within the limits now

  bool reduced() const { return bytes < full_bytes || flops < full_flops; }
  /// So far above the limits that a CPU would take hours over a call.
  bool hopeless(const ShrinkOptions& options) const;
};

/// JSON with the fields' names. from_json throws kbench::Error naming the faulty field.
nlohmann::json to_json(const Shrunk& shrunk);
Shrunk shrunk_from_json(const nlohmann::json& json);

/// The sizes that a problem is to run with.
struct ChosenSizes {
  Sizes sizes;
  std::optional<Shrunk> shrunk;  ///< none: the problem was within the limits, or not looked at
};

/// {"sizes": {name: literal}, "shrunk": … or null}.
nlohmann::json to_json(const ChosenSizes& chosen);
ChosenSizes chosen_sizes_from_json(const nlohmann::json& json);

/// "12.0 GiB and 1.6 GFLOP", for people.
std::string cost_text(double bytes, double flops);
/// "12 problems at reduced sizes (--shrink)", and which are above the limits all the same; "" where
/// there are none. For people; keys are names.
std::string shrunk_text(const std::map<std::string, Shrunk>& problems);

}  // namespace kbench
