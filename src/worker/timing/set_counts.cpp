// SPDX-License-Identifier: MIT
#include "worker/timing/set_counts.hpp"

#include <algorithm>

namespace kbench::worker {
namespace {

/// The most sets for trials: more distinct contents than any candidate caches by accident.
constexpr std::size_t kMaxResident = 16;
/// If fewer sets than this serve several trials each, they hold other trials' inputs when the next
/// candidate starts. With the memory that drawing needs, they would also fill most of a GPU.
constexpr std::size_t kFewestResident = 3;

}  // namespace

SetCounts share_room(std::size_t fits, std::size_t trials, std::size_t useful) {
  SetCounts counts;
  // One set for each trial; if fewer fit, each set serves several trials.
  counts.resident = std::clamp<std::size_t>(fits, 1, std::min(kMaxResident, trials));
  if (counts.resident < kFewestResident && counts.resident < trials) counts.resident = 1;
  counts.timed = std::min(fits - std::min(fits, counts.resident), useful);
  return counts;
}

}  // namespace kbench::worker
