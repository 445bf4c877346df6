// SPDX-License-Identifier: MIT
#pragma once

#include "kbench/subprocess.hpp"

namespace kbench::worker {

/// The life of a kernel candidate's process: loads the code of its job, maps the judge's buffers,
/// and runs calls until the judge hangs up. Returns the exit code.
int candidate_main(Fd channel, Fd job);

}  // namespace kbench::worker
