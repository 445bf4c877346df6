// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "protocol/candidate_job.hpp"
#include "worker/candidate/judged_candidate.hpp"

namespace kbench::worker {

/// Imports a module or an extension, which is then ready for its buffers. The driver builds the
/// extensions that it requests on `compile`. For a dry import, returns null after its end. Throws
/// CandidateFailure.
std::unique_ptr<JudgedCandidate> make_module_candidate(const CandidateJob& job, Fd compile);

}  // namespace kbench::worker
