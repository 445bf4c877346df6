// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace kbench::worker {

/// How many sets of inputs a problem has: for its trials, which take turns where they are fewer,
/// and for timed calls, which nobody has seen. Without the latter the first set is drawn anew for
/// them.
struct SetCounts {
  std::size_t resident = 1, timed = 0;
  bool operator==(const SetCounts&) const = default;
};

/// Shares out memory that `fits` so many sets, of which timed calls can use `useful`.
SetCounts share_room(std::size_t fits, std::size_t trials, std::size_t useful);

}  // namespace kbench::worker
