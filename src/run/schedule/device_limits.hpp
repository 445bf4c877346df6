// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "kbench/profile.hpp"
#include "kbench/record.hpp"

namespace kbench::run {

/// The cause of a `cheat`, and a flag.
inline constexpr const char* kFasterThanMemory = "faster_than_memory";

/// The work of one call of the reference.
struct ReferenceWork {
  std::optional<LeastWork> work;   ///< none if the call could not be traced
  std::uint64_t output_bytes = 0;  ///< also of outputs that are views of inputs
};

/// Compares a correct candidate's time with its device's limits. `sol` gets the fraction of the
/// limit that it reached. The outcome is `cheat` if the time is shorter than writing the outputs
/// takes.
///
/// - Flag `faster_than_memory`: another time of the candidate (reported, wall-clock or traced) is
///   that short.
/// - Flag `implausible`: the time is shorter than reading the inputs or doing the reference's
///   operations takes. It is only a flag, because an algorithm may need fewer.
/// - Flag `no_kernels`, on every device: the candidate runs nothing although the reference writes
///   outputs.
///
/// By KernelBench's rules a candidate stays correct. `measured`: the throughput of copies and
/// matrix products on this device.
void hold_against_limits(Record& record, const ReferenceWork& reference,
                         const std::optional<Peaks>& peaks, const std::optional<Peaks>& measured,
                         bool cold_cache);

}  // namespace kbench::run
