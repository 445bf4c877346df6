// SPDX-License-Identifier: MIT
#include "worker/timing/set_counts.hpp"

#include <algorithm>

namespace kbench::worker {
namespace {

/// For trials: more distinct contents than any candidate caches by accident.
constexpr std::size_t kMaxResident = 16;
/// Fewer that take turns hold other trials' inputs when the next candidate comes, and with what
/// drawing takes they would be most of a GPU.
constexpr std::size_t kFewestResident = 3;
/// Two before those that count, and two that do.
constexpr std::size_t kFewestTimed = 4;

}  // namespace

SetCounts share_room(std::size_t fits, std::size_t trials, std::size_t useful) {
  SetCounts counts;
  // One for each trial, or as many as there is room for, which take turns.
  counts.resident = std::clamp<std::size_t>(fits, 1, std::min(kMaxResident, trials));
  if (counts.resident < kFewestResident && counts.resident < trials) counts.resident = 1;
  const std::size_t left = fits - std::min(fits, counts.resident);
  // With two or three of them none could come before those that count: that is worth drawing some
  // trials' sets anew for each candidate.
  if (useful >= kFewestTimed && (left == 2 || left == 3) && fits >= kFewestTimed + kFewestResident)
    counts.resident = fits - kFewestTimed;
  counts.timed = std::min(fits - std::min(fits, counts.resident), useful);
  return counts;
}

}  // namespace kbench::worker
