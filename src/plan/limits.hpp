// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "plan/ast.hpp"

namespace kbench::plan {

/// Limits of one plan. They are far above honest plans. They bound the driver's time and memory for
/// any candidate.
inline constexpr std::size_t kMaxLaunches = 10'000, kMaxTensors = 4096, kMaxRank = 64,
                             kMaxArgumentsOfLaunch = 1024, kMaxKernelText = 4096;
inline constexpr std::int64_t kMaxStatements = 200'000, kMaxArguments = 1'000'000;

using Extents = std::array<std::int64_t, 3>;
using LaunchExtents = std::array<std::uint32_t, 3>;

/// One to three extents, the position of each, and the position of the whole list.
struct ExtentList {
  Extents sizes{1, 1, 1};
  std::array<Position, 3> each;
  Position at;
};

/// The extents as a launch takes them; throws PlanFault if CUDA would refuse them.
LaunchExtents checked_grid(const ExtentList& grid);
/// As above. The cause is "too_many_threads" if the block has more than the device allows.
LaunchExtents checked_block(const ExtentList& block, const DeviceLimits& limits);
/// As above; the grid has to be a multiple of the cluster.
LaunchExtents checked_cluster(const ExtentList& cluster, const LaunchExtents& grid);
/// Throws PlanFault if `bytes` is negative or (cause "too_much_shared_memory") above the device's
/// limit.
std::uint32_t checked_shared(std::int64_t bytes, Position at, const DeviceLimits& limits);

/// As bind_plan, but throws a mistake as PlanFault.
BoundPlan bind(const Plan::Impl& plan, const Signature& signature, const DeviceLimits& limits);

}  // namespace kbench::plan
