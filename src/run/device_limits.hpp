// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "kbench/record.hpp"
#include "kbench/speed_of_light.hpp"

namespace kbench::run {

/// Puts on a right candidate's record how near it came to the limit of its device. Who is faster
/// than its outputs can be written is a cheat; who is faster than the inputs can be read, or than
/// the reference's operations can be done, gets the flag `implausible`, for an algorithm may need
/// fewer. By KernelBench's rules it stays right. `measured` is what a copy and products reach
/// there.
void hold_against_limits(Record& record, const std::optional<LeastWork>& work,
                         const std::optional<Peaks>& peaks, const std::optional<Peaks>& measured,
                         bool cold_cache);

}  // namespace kbench::run
