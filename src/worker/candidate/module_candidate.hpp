// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "protocol/candidate_job.hpp"
#include "worker/candidate/judged_candidate.hpp"

namespace kbench::worker {

/// A module or an extension, imported and ready for its buffers; extensions that it asks for are
/// built by whoever listens on `compile`. For a dry import null, when its import has ended. Throws
/// CandidateFailure.
std::unique_ptr<JudgedCandidate> make_module_candidate(const CandidateJob& job, Fd compile);

}  // namespace kbench::worker
