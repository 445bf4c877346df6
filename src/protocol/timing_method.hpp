// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include "protocol/protocol.hpp"

namespace kbench {

/// A method to time a call on a GPU; `--timing` takes its name.
struct TimingMethod {
  std::string_view name;
  std::string_view meaning;  ///< for help, without a full stop
  protocol::TimeClock clock = protocol::TimeClock::kEvents;
  bool held = false;   ///< if possible, work starts only after the whole call is queued
  bool timed = true;   ///< false: only correctness
  bool by_gpu = true;  ///< selects among times that only GPU timing has
};
/// The table of timing methods; the first is the default.
std::span<const TimingMethod> timing_methods();
/// The row of that name, or null.
const TimingMethod* find_timing_method(std::string_view name);

}  // namespace kbench
