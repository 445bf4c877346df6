// SPDX-License-Identifier: MIT
#pragma once

#include "protocol/protocol.hpp"
#include "worker/process/candidate_sandbox.hpp"

namespace kbench::worker {

/// The fork server: has an interpreter with torch imported and nothing else started, and forks a
/// judge or a candidate for each kFork. Candidates are sandboxed before they open a device or know
/// their job; judges are not sandboxed. Reports each child's end. If the driver closes the channel,
/// kills all children and returns. In a child, returns that child's exit code.
int fork_server_main(protocol::Channel channel, const CandidateSandbox& sandbox);

}  // namespace kbench::worker
