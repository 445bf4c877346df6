// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "os/subprocess.hpp"
#include "protocol/protocol.hpp"

namespace kbench::worker {

/// What a warm process gets when its candidate comes.
struct GivenJob {
  Fd job;
  Fd compile;  ///< for compile requests; empty where the job makes none
};

/// Opens the device, says so, and waits for a job: nothing where the driver hangs up. No code but
/// kbench's has run in the process by then.
std::optional<GivenJob> stand_by(protocol::Channel channel, const std::string& device);

}  // namespace kbench::worker
