// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "run/prepare/prepare.hpp"
#include "run/process/judge_client.hpp"
#include "run/schedule/ahead.hpp"
#include "run/schedule/queue_setup.hpp"

namespace kbench::run {

/// Starts a process for each baseline of an open problem, and gives the judge its channel. The
/// reference runs there as a module candidate does, so both are timed behind the same gate. Empty
/// if the candidate gets no times, or times of another kind. Warm processes are used if there are
/// any.
std::vector<std::unique_ptr<StartedCandidate>> start_baselines(const QueueSetup& setup,
                                                               const Prepared& prepared,
                                                               JudgeClient& judge, Ahead& ahead);

}  // namespace kbench::run
