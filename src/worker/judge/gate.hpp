// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "worker/device/device.hpp"
#include "worker/timing/gate_clock.hpp"

namespace kbench::worker {

class Evaluation;

/// The processes that run the baselines of an open problem, by the baselines' names. Each serves
/// all candidates, and is judged as a candidate's process.
using BaselineProcesses = std::map<std::string, std::unique_ptr<Evaluation>>;

/// The calls of a block. `kTimed`: queued behind the gate. `kAlone`: one call with an open gate,
/// because its work cannot be queued, or because it changes data that the next call reads; its time
/// includes its host code. `…Traced`: its work is also traced. `kSpinning`: a kernel of kbench
/// keeps the GPU busy.
enum class BlockKind : std::uint8_t { kTimed, kTraced, kAlone, kAloneTraced, kSpinning };

/// The gate of one process.
struct Gate {
  GateClock clock;
  SharedBuffer outputs;         ///< memory for outputs that kbench does not allocate
  double queueing_ms = 0;       ///< the longest time for queueing a block so far
  double calls_ms = 0;          ///< time of a block's calls with an open gate
  double slice_ms = 0;          ///< GateCosts::slice_ms; 0: not measured yet
  std::size_t ready_calls = 0;  ///< blocks of this many calls need no preparation; 0: none
  bool copies = false;          ///< outputs are copied to their buffers after each call
  int void_blocks = 0;          ///< blocks with work before their start or after their end
  std::vector<double> switches_ms, starts_ms;  ///< GateTimes::switch_ms and GatedBlock::start_ms of
                                               ///< all blocks with a closed gate
  std::map<std::string, std::vector<double>> single_ms;  ///< times of single calls, by subject
  /// Blocks without calls, for gate_costs().
  std::vector<GatedBlock> empty_blocks;
};

}  // namespace kbench::worker
