// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>

#include "os/subprocess.hpp"
#include "protocol/candidate_job.hpp"

namespace kbench::worker {

class JudgedCandidate;

/// Makes the candidate for the job of a module or an extension. The candidate sends its requests to
/// compile to `compile`. For a dry import, does the dry import and returns null.
using ModuleFactory =
    std::function<std::unique_ptr<JudgedCandidate>(const CandidateJob& job, Fd compile)>;

/// Runs a candidate's process: loads the job's candidate, maps the judge's buffers, and runs calls
/// until the judge closes the channel. Returns the exit code.
int candidate_main(Fd channel, Fd job, Fd compile, const ModuleFactory& make_module);

}  // namespace kbench::worker
