// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

namespace kbench::worker {

/// What the judge's own clock saw of one block of calls, in milliseconds.
struct BlockWall {
  int discarded = 0, counted = 0;  ///< calls
  double discarded_ms = 0;         ///< from before the block to the end of the discarded calls
  double counted_ms = 0;           ///< from there to the end of the counted ones
  /// What a call took by a clock that nobody else can reach; 0 where there is none, as in a
  /// candidate's process.
  double known_ms = 0;
};

/// The same of all blocks of a side, and what of it is not the calls'.
struct WalledSide {
  std::vector<BlockWall> blocks;
  double overhead_ms = 0;  ///< of each call
  double message_ms = 0;   ///< of each block
  double lead_ms = 0;      ///< of each call, too: that the device was busy before it
};

/// A claim is confirmed from so much of its bound on, and where it is short of this larger share by
/// no more than host work between calls takes, and what comes once for each block (a process wakes
/// up, another one hears of it: 0.4 ms beside an H200): of a long call that is nothing.
inline constexpr double kConfirming = 0.8, kConfirmingLong = 0.9;
inline constexpr double kHostWork_ms = 0.2, kBlockWork_ms = 0.3;

/// A lead is so much of a call, and no more than a host takes that is slow at launching. Of calls
/// of an H100's modules 0.04 to 0.15 ms, of the first of a block 0.2 to 0.35.
inline constexpr double kLeadShare = 0.1, kMostLead_ms = 0.25;

/// Milliseconds of a call by what the judge saw of a block.
double bound_ms(const BlockWall& block, const WalledSide& side);
/// Leaves out the blocks for which `aside` is true, one for each.
void set_aside(WalledSide& side, const std::vector<bool>& aside);
/// Of each block, in order.
std::vector<double> bounds_ms(const WalledSide& side);
/// Whether what a process told of its calls is as long as what was seen of them, so many that count
/// in a block, lets expect.
bool confirms(const std::vector<double>& bounds_ms, const std::vector<double>& told_ms, int calls);

/// Milliseconds from a message to another thread to its answer, at best.
double echo_ms();

}  // namespace kbench::worker
