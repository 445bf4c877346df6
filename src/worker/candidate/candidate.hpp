// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>

#include "os/subprocess.hpp"
#include "protocol/candidate_job.hpp"

namespace kbench::worker {

class JudgedCandidate;

/// Makes the candidate of a module's or extension's job, whose requests to compile go to `compile`;
/// null for a dry import, when it has done its work.
using ModuleFactory =
    std::function<std::unique_ptr<JudgedCandidate>(const CandidateJob& job, Fd compile)>;

/// The life of a candidate's process: loads what its job says, maps the judge's buffers, and runs
/// calls until the judge hangs up. Returns the exit code.
int candidate_main(Fd channel, Fd job, Fd compile, const ModuleFactory& make_module);

}  // namespace kbench::worker
