// SPDX-License-Identifier: MIT
#pragma once

#include <span>

#include "worker/device/device.hpp"

/// How the worker runs kernels with the PTX executor, whoever launches them.
namespace kbench::worker {

/// The executor's options for a launch that is looked at in this way. `seed` permutes the blocks.
ptx::Options executor_options(const Watch& watch, std::uint64_t seed);

/// The failure that a fault means for a candidate, as a GPU would have it; `tensors` are those that
/// regions are named after.
CandidateFailure failure_of(const ptx::Fault& fault, std::span<const KernelTensor> tensors);

/// Moves what a launch showed out of its result, a fault among the findings.
LaunchReport report_of(ptx::Result& result);

/// The image as a module. Throws CandidateFailure where the executor does not support it.
ptx::Module load_ptx(std::string_view image);

}  // namespace kbench::worker
