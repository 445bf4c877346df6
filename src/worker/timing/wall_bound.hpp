// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

namespace kbench::worker {

/// Times of one block of calls by the judge's own clock, in milliseconds.
struct BlockWall {
  int discarded = 0, counted = 0;  ///< calls
  double discarded_ms = 0;  ///< from the start of the block to the end of the discarded calls
  double counted_ms = 0;    ///< from there to the end of the counted ones
  /// Time of a call by a clock that no other process can change. 0 if there is none, as for a
  /// candidate's process.
  double known_ms = 0;
};

/// Wall times of all blocks of a subject, and the parts of them that are no work of the calls.
struct WalledSide {
  std::vector<BlockWall> blocks;
  double overhead_ms = 0;  ///< of each call
  double message_ms = 0;   ///< of each block
  double lead_ms = 0;      ///< of each call: kbench keeps the device busy before it
};

/// A reported time is confirmed if it is at least kConfirming of its wall-clock bound. It must also
/// be at least kConfirmingLong of the bound, after an allowance is subtracted. The allowance is for
/// host work between calls, and for work once in each block: a process wakes up and another one
/// notices it, which takes 0.4 ms on the host of an H200. For long calls the allowance is
/// negligible.
inline constexpr double kConfirming = 0.8, kConfirmingLong = 0.9;
inline constexpr double kHostWork_ms = 0.2, kBlockWork_ms = 0.3;

/// kbench keeps the device busy before a call for this fraction of the call's time, and at most for
/// as long as a slow host needs to launch it. For calls of modules on an H100 the host needs 0.04
/// to 0.15 ms, for the first call of a block 0.2 to 0.35 ms.
inline constexpr double kLeadShare = 0.1, kMostLead_ms = 0.25;

/// The wall-clock bound of a block: milliseconds of one of its calls.
double bound_ms(const BlockWall& block, const WalledSide& side);
/// Removes the blocks for which `aside` is true. `aside` has a value for each block.
void set_aside(WalledSide& side, const std::vector<bool>& aside);
/// The wall-clock bound of each block, in order.
std::vector<double> bounds_ms(const WalledSide& side);
/// True if the reported times agree with the wall-clock bounds. `calls`: counted calls in a
/// block.
bool confirms(const std::vector<double>& bounds_ms, const std::vector<double>& told_ms, int calls);

/// The shortest time between a message to another thread and its answer, in milliseconds.
double echo_ms();

}  // namespace kbench::worker
