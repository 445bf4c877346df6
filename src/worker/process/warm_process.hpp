// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "os/subprocess.hpp"
#include "protocol/protocol.hpp"

namespace kbench::worker {

/// The input of a warm process when it gets a candidate.
struct GivenJob {
  Fd job;
  Fd compile;  ///< for compile requests; empty if the job makes none
};

/// Opens the device, reports that, and waits for a job. Returns nothing if the driver closes the
/// channel. Until then the process has run only kbench's code.
std::optional<GivenJob> stand_by(protocol::Channel channel, const std::string& device);

}  // namespace kbench::worker
