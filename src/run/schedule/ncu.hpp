// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "kbench/run.hpp"
#include "os/installation.hpp"
#include "run/devices.hpp"
#include "run/prepare/prepare.hpp"

namespace kbench::run {

/// Nsight Compute's program: $KBENCH_NCU, else on PATH, else of /usr/local/cuda.
std::optional<std::filesystem::path> find_ncu();

/// Puts into `details` what Nsight Compute says of the kernels in a right candidate's profile
/// (`ncu`, as text), or why it says nothing (`ncu_failed`). It watches another kbench, which judges
/// the candidate once more on the same GPU, by one trial; nothing else may use that meanwhile.
void profile_by_ncu(const std::filesystem::path& ncu, const std::filesystem::path& kbench,
                    const LaneDevice& device, const Prepared& prepared, int cancel_fd,
                    nlohmann::json& details);

/// In a kbench that another one started so: which holds the GPU for both.
inline constexpr const char* kHeldForUs = "KBENCH_GPU_HELD";

}  // namespace kbench::run
