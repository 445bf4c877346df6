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

/// The processes that run the baselines of an open problem, by the baselines' names. Each is judged
/// like a candidate's, and serves all candidates.
using BaselineProcesses = std::map<std::string, std::unique_ptr<Evaluation>>;

/// `kAlone…`: a call whose work cannot be queued, or that changes what the next one finds. The gate
/// is open, and the time has its host code in it.
enum class BlockKind : std::uint8_t { kTimed, kTraced, kAlone, kAloneTraced };

/// The gate of one process.
struct Gate {
  GateClock clock;
  SharedBuffer outputs;         ///< memory for its outputs, if kbench does not allocate them
  double queueing_ms = 0;       ///< what queueing a block takes at least
  double calls_ms = 0;          ///< what the calls of a block take about
  std::size_t ready_calls = 0;  ///< for blocks of so many calls everything has been allocated
  bool copies = false;          ///< outputs are copied to their buffers behind each call
  int void_blocks = 0;          ///< those with work before their start or after their end
  std::vector<double> switches_ms, starts_ms;            ///< of all closed blocks
  std::map<std::string, std::vector<double>> single_ms;  ///< of blocks of one call, by subject
};

}  // namespace kbench::worker
