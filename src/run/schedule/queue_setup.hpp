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
class WarmPool;
class TrivialPasses;
class WorkerHost;
struct Prepared;

/// The set-up of a device queue: the parts of its run that it uses.
struct QueueSetup {
  WorkerHost* host = nullptr;
  ExtensionBuilder* builder = nullptr;  ///< builds the extensions that modules request
  QueueDevice device;
  DeviceTurns* turns = nullptr;        ///< shared with the device's other queues
  WarmPool* warm_processes = nullptr;  ///< the same; null if the device has none
  std::size_t device_queues = 1;       ///< number of queues of the device
  const EvalOptions* options = nullptr;
  std::string secret;
  std::filesystem::path kbench;        ///< kbench's own program, which ncu runs again
  std::string baseline_cache;          ///< folder for compiled references
  OwnKernels own_kernels;              ///< for this device
  TrivialPasses* trivial = nullptr;    ///< shared by all queues; null: not checked
  std::size_t kept_judges = 1;         ///< most references kept warm
  std::size_t memory_limit_bytes = 0;  ///< limit of a candidate's resident memory
  int cancel_fd = -1;
};

/// The problem's part of a request to the judge, for describing and for judging.
nlohmann::json describe_request(const Problem& problem, const Sizes& sizes,
                                const std::string& precision, bool eval_mode);
/// The baselines of a problem for which no times are stored.
std::vector<std::string> measured_baselines(const QueueSetup& setup, const Prepared& prepared);
/// The request to open the candidate's problem for judging.
nlohmann::json open_request(const QueueSetup& setup, const Prepared& prepared);

}  // namespace kbench::run
