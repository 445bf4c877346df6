// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "kbench/problem.hpp"
#include "kbench/run.hpp"
#include "run/devices.hpp"
#include "run/schedule/judge_kernels.hpp"

namespace kbench::run {

class DeviceTurns;
class ExtensionBuilder;
class SparePool;
class TrivialPasses;
class WorkerHost;
struct Prepared;

/// What a lane needs to know of its run.
struct LaneSetup {
  WorkerHost* host = nullptr;
  ExtensionBuilder* builder = nullptr;  ///< for what modules ask for while they run
  LaneDevice device;
  DeviceTurns* turns = nullptr;  ///< shared with the device's other lanes
  SparePool* spares = nullptr;   ///< shared as well; null where nothing is gained by it
  std::size_t lanes = 1;         ///< of the device
  const EvalOptions* options = nullptr;
  std::string secret;
  std::filesystem::path kbench;      ///< the driver's own program, for another one that is watched
  std::string baseline_cache;        ///< folder of what compilers make of references
  OwnKernels own_kernels;            ///< for this device
  TrivialPasses* trivial = nullptr;  ///< shared by all lanes; null: no problem is asked
  std::size_t kept_judges = 1;       ///< references kept warm at once
  std::size_t memory_limit_bytes = 0;  ///< resident memory of a candidate
  int cancel_fd = -1;
};

/// The problem as the judge is told of it, for describing alone and for judging.
nlohmann::json describe_request(const Problem& problem, const Sizes& sizes,
                                const std::string& precision, bool eval_mode);
/// All that a judge has to know to open the problem of that candidate.
nlohmann::json open_request(const LaneSetup& setup, const Prepared& prepared);

}  // namespace kbench::run
