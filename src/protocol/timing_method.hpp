// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

#include "protocol/protocol.hpp"

namespace kbench {

/// One way to take the time of a call on a GPU: `--timing` takes its name.
struct TimingMethod {
  std::string_view name;
  std::string_view meaning;  ///< for help, without a full stop
  protocol::TimeClock clock = protocol::TimeClock::kEvents;
  bool held = false;   ///< work starts when all of a call has been queued, where that can be
  bool timed = true;   ///< false: correctness alone
  bool by_gpu = true;  ///< chooses between times that only a GPU has
};
/// The table of timing methods; the first is the default.
std::span<const TimingMethod> timing_methods();
/// The row of that name, or null.
const TimingMethod* find_timing_method(std::string_view name);

}  // namespace kbench
