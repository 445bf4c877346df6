// SPDX-License-Identifier: MIT
#include "worker/timing/wall_bound.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "os/subprocess.hpp"
#include "worker/timing/timing.hpp"

namespace kbench::worker {
namespace {

/// The first calls after a switch may take so much longer than others, and no more than twice as
/// long: 0.1 to 0.6 ms of an H200's, whether a call takes 0.2 ms or 16.
constexpr double kSlowFirst_ms = 0.5;
/// What is left of a wall at least. Who overwrites the functions that flush the cache and copy
/// outputs saves what is taken off for them: by that nobody gets faster than by this factor. A
/// larger share would take honest calls for longer than they are: copying an output of an
/// elementwise kernel, and flushing, is often more than half of the wall.
constexpr double kLeastShare = 0.25;
constexpr int kEchoes = 8;

}  // namespace

double bound_ms(const BlockWall& block, const WalledSide& side) {
  // The calls that count may have been made ahead, among the discarded ones, since their inputs lie
  // in memory already. So all of the block's time belongs to all of its calls, those that are
  // discarded taking as long as they may in earnest.
  // Where others come before, a process has both requests when it begins.
  const double message_ms = block.discarded > 0 ? 0 : side.message_ms;
  const double counted = (block.counted_ms - message_ms) / block.counted;
  const int calls = block.discarded + block.counted;
  const double own_ms =
      block.discarded_ms + block.counted_ms - side.message_ms - calls * side.overhead_ms;
  const double all =
      side.overhead_ms + std::max(own_ms / (calls + block.discarded),
                                  (own_ms - kSlowFirst_ms * block.discarded) / calls);
  const double wall = std::max({counted, all, 0.0});
  const double least = block.known_ms > 0 ? block.known_ms : kLeastShare * wall;
  const double net = wall - side.overhead_ms;
  // Who leaves it out gains no more than its share.
  const double lead_ms = std::min(side.lead_ms, kLeadShare * net);
  return std::max(net - lead_ms, least);
}

void set_aside(WalledSide& side, const std::vector<bool>& aside) {
  std::vector<BlockWall> kept;
  for (std::size_t i = 0; i < side.blocks.size(); ++i)
    if (i >= aside.size() || !aside[i]) kept.push_back(side.blocks[i]);
  side.blocks = std::move(kept);
}

std::vector<double> bounds_ms(const WalledSide& side) {
  std::vector<double> bounds;
  bounds.reserve(side.blocks.size());
  for (const auto& block : side.blocks) bounds.push_back(bound_ms(block, side));
  return bounds;
}

bool confirms(const std::vector<double>& bounds_ms, const std::vector<double>& told_ms, int calls) {
  // The median of the blocks and not the best one, though noise only adds: one block in which a
  // candidate does nothing would buy it the smallest, and of few blocks an output is compared. To
  // move the median it has to risk that in half of them. And a claim that is itself a median would
  // be held against what only luck attains.
  // The mean is told as well: half of the claims could be next to nothing under the same median.
  const double claim_ms = std::min(median(told_ms), mean(told_ms));
  const double bound_ms = median(bounds_ms);
  const double host_ms = kHostWork_ms + kBlockWork_ms / calls;
  return claim_ms >= std::max(kConfirming * bound_ms, kConfirmingLong * bound_ms - host_ms);
}

double echo_ms() {
  auto [ours, theirs] = socket_pair();
  std::thread other([fd = theirs.value()] {
    char byte = 0;
    while (read(fd, &byte, 1) == 1 && write(fd, &byte, 1) == 1) {
    }
  });
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kEchoes; ++i) {
    char byte = 0;
    const auto start = std::chrono::steady_clock::now();
    if (write(ours.value(), &byte, 1) != 1 || read(ours.value(), &byte, 1) != 1) break;
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    least = std::min(least, took.count());
  }
  ours.reset();
  other.join();
  return least < std::numeric_limits<double>::infinity() ? least : 0;
}

}  // namespace kbench::worker
