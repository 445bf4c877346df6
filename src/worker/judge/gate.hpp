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

/// The gate of one process.
struct Gate {
  GateClock clock;
  SharedBuffer outputs;    ///< memory for its outputs, if kbench does not allocate them
  double queueing_ms = 0;  ///< what queueing a block takes at least
  double calls_ms = 0;     ///< what the calls of a block take about
  int late_blocks = 0;     ///< those that worked on
  std::vector<double> switches_ms, starts_ms;  ///< of all closed blocks
};

}  // namespace kbench::worker
