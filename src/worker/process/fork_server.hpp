// SPDX-License-Identifier: MIT
#pragma once

#include "protocol/protocol.hpp"
#include "worker/process/candidate_sandbox.hpp"

namespace kbench::worker {

/// The fork server: holds an interpreter with torch imported and nothing else started, and forks a
/// judge or a candidate for each kFork. Candidates are sandboxed from their first moment, before
/// they open a device or know their job; judges are not. Reports each child's end. Returns in the
/// fork server when the driver hangs up (all children are killed), and in a child with that child's
/// exit code.
int fork_server_main(protocol::Channel channel, const CandidateSandbox& sandbox);

}  // namespace kbench::worker
