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

/// The path of Nsight Compute: $KBENCH_NCU, else from PATH, else from /usr/local/cuda.
std::optional<std::filesystem::path> find_ncu();

/// Runs Nsight Compute for the kernels in a correct candidate's profile. Puts its text into
/// `details` as `ncu`, or the reason for its failure as `ncu_failed`. Nsight Compute runs a second
/// kbench, which judges the candidate once more on the same GPU with one trial. Nothing else may
/// use the GPU meanwhile.
void profile_by_ncu(const std::filesystem::path& ncu, const std::filesystem::path& kbench,
                    const QueueDevice& device, const Prepared& prepared, int cancel_fd,
                    nlohmann::json& details);

/// The environment variable that names the GPU whose lock the parent kbench holds. profile_by_ncu()
/// sets it for the kbench that it starts.
inline constexpr const char* kHeldForUs = "KBENCH_GPU_HELD";

}  // namespace kbench::run
