// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace kbench::worker {

/// Numbers of input sets of a problem. `resident`: sets for trials; if there are fewer sets than
/// trials, a set serves several trials. `timed`: sets for timed calls, new to each candidate. If
/// `timed` is 0, the first set is drawn again for timed calls.
struct SetCounts {
  std::size_t resident = 1, timed = 0;
  bool operator==(const SetCounts&) const = default;
};

/// Divides memory that is enough for `fits` sets. `useful`: the most sets that timed calls can use.
SetCounts share_room(std::size_t fits, std::size_t trials, std::size_t useful);

}  // namespace kbench::worker
