// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "worker/device/device.hpp"

/// Runs of kernels with the PTX executor, for plans and for host code.
namespace kbench::worker {

/// The executor's options for a launch under `watch`. `seed` permutes the blocks.
ptx::Options executor_options(const Watch& watch, std::uint64_t seed);

/// Converts a fault to the failure that a GPU would give. `tensors`: those that regions are named
/// after.
CandidateFailure failure_of(const ptx::Fault& fault, std::span<const KernelTensor> tensors);

/// Moves the observations of a launch out of its result. A fault becomes a finding.
LaunchReport report_of(ptx::Result& result);

/// Parses the image. Throws CandidateFailure if the executor does not support it.
ptx::Module load_ptx(std::string_view image);

}  // namespace kbench::worker
