// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "base/stopwatch.hpp"
#include "kbench/candidate.hpp"
#include "kbench/plan.hpp"
#include "kbench/profile.hpp"
#include "kbench/record.hpp"
#include "worker/device/device_state.hpp"

/// What the judge is asked about one candidate, and what it answers.
namespace kbench::worker {

/// The driver's instructions for judging one candidate.
struct EvaluationRequest {
  CandidateKind kind = CandidateKind::kKernel;
  LaunchPlan plan;
  pid_t pid = -1;  ///< the candidate's process, whose group the judge stops
  double load_limit_s = 120;
  bool builds_late = false;  ///< the first call may wait for compilers
  double asked_limit_s = 0;  ///< limit of a call by `--timeout`; 0: depends on the reference's time
  double call_limit_s = 0;   ///< a lower limit of a call, as from a plan; 0: none
  bool one_call = false;     ///< make one more call after a failure, without a verdict
  bool checks_races = false;   ///< on the CPU with `--sanitize all`, which is up to 25 times slower
  bool require_clean = false;  ///< reject a candidate with a flag that is_unclean
  bool require_own = false;    ///< reject a candidate unless only its own kernels compute
  bool all_trials = false;     ///< run all trials even after a clear failure
  bool profile = false;        ///< make one more call, in which its work is counted
  bool has_undefined = false;  ///< there is a build with Artifact::undefined_ptx
  bool timed = true;           ///< time it if it is correct
  bool baseline = false;       ///< not a candidate: the process runs the reference
};

/// The judge's verdict: the record, without the identity that the driver adds, and details.
struct Verdict {
  Record record;
  std::map<std::string, std::vector<double>>
      raw_ms;                           ///< measurements by subject; other series by name
  std::vector<Finding> findings;        ///< all that were kept; the record has fewer
  Phases phases_s;                      ///< the judge's time by phase
  std::vector<OperatorCost> operators;  ///< torch operators in the counted call of a module
  bool counted = false;                 ///< all work of the counted call was counted
  std::map<std::string, std::string>
      failed_baselines;  ///< the reasons why baselines were not timed, by name
  /// By subject: the GPU's state at the end of each block. Empty if the device reports none.
  std::map<std::string, std::vector<DeviceState>> states;
};

}  // namespace kbench::worker
