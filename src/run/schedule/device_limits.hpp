// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "kbench/profile.hpp"
#include "kbench/record.hpp"

namespace kbench::run {

/// The cause of a `cheat`, and a flag.
inline constexpr const char* kFasterThanMemory = "faster_than_memory";

/// What a call of the reference does.
struct ReferenceWork {
  std::optional<LeastWork> work;   ///< none if the call could not be followed
  std::uint64_t output_bytes = 0;  ///< also of outputs that are views of inputs
};

/// Puts on a right candidate's record how near it came to the limit of its device. A candidate
/// whose time is below what writing the outputs takes is a cheat. If another time of it is, one
/// that it reports or the GPU's records hold, the record gets the flag `faster_than_memory`. A time
/// below what reading the inputs or doing the reference's operations takes is the flag
/// `implausible`, for an algorithm may need fewer. Of a candidate that runs nothing, although the
/// reference writes its outputs, the flag `no_kernels` tells, on every device. By KernelBench's
/// rules a candidate stays right. `measured` is what a copy and products reach there.
void hold_against_limits(Record& record, const ReferenceWork& reference,
                         const std::optional<Peaks>& peaks, const std::optional<Peaks>& measured,
                         bool cold_cache);

}  // namespace kbench::run
