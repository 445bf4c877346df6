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

/// The first calls after a switch may take up to this much longer than other calls, and at most
/// twice as long. On an H200 they take 0.1 to 0.6 ms longer, both for calls of 0.2 ms and of 16 ms.
constexpr double kSlowFirst_ms = 0.5;
/// The least fraction of the wall time that remains after the overhead is subtracted. A candidate
/// that overwrites the functions that flush the cache and copy outputs saves this overhead. The
/// fraction limits what it gains. A larger fraction would make honest calls longer than they are:
/// copying an elementwise kernel's output, and flushing, often take more than half of the wall
/// time.
constexpr double kLeastShare = 0.25;
constexpr int kEchoes = 8;

}  // namespace

double bound_ms(const BlockWall& block, const WalledSide& side) {
  // A process may compute the counted calls during the discarded ones, because their inputs are in
  // memory already. So the whole time of the block is divided among all of its calls, and discarded
  // calls take as much longer than counted ones as they honestly may.
  // If there are discarded calls, the process has both requests before it begins.
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
  // A process that does not keep the GPU busy before calls gains at most this fraction.
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
  // The bound is the median of the blocks, not the smallest, although noise only adds time. For the
  // smallest, a candidate needs only one block in which it computes nothing, and kbench compares
  // outputs of few blocks. To move the median, it has to risk this in half of the blocks. Besides,
  // the claim is itself a median, and only luck gives the smallest bound.
  // The claim includes the mean, because half of the reported times could be almost 0 without a
  // change of the median.
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
