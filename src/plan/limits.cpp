// SPDX-License-Identifier: MIT
#include "plan/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace kbench::plan {
namespace {

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr Extents kMaxGrid{2'147'483'647, 65'535, 65'535}, kMaxBlock{1024, 1024, 64};
constexpr std::int64_t kMaxCluster = 8;  // every device with clusters allows this
constexpr std::string_view kAxes = "xyz";

LaunchExtents checked_extents(const ExtentList& extents, const Extents& most, std::string_view what,
                              std::string_view cause = "faulty_plan") {
  LaunchExtents result{};
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t size = extents.sizes[i];
    if (size < 1) {
      fail(extents.each[i],
           fmt::format("the {}'s {} is {}; it has to be 1 or more (guard the launch with `if`, or "
                       "use max(1, …))",
                       what, kAxes[i], size));
    }
    if (size > most[i]) {
      fail(extents.each[i],
           fmt::format("the {}'s {} is {}; CUDA allows {} at most", what, kAxes[i], size, most[i]),
           cause);
    }
    result[i] = static_cast<std::uint32_t>(size);
  }
  return result;
}

std::int64_t product(const Extents& extents) { return extents[0] * extents[1] * extents[2]; }

}  // namespace

LaunchExtents checked_grid(const ExtentList& grid) {
  return checked_extents(grid, kMaxGrid, "grid");
}

LaunchExtents checked_block(const ExtentList& block, const DeviceLimits& limits) {
  const LaunchExtents result = checked_extents(block, kMaxBlock, "block", "too_many_threads");
  const std::int64_t threads = product(block.sizes);
  if (threads > limits.max_threads_per_block) {
    fail(block.at,
         fmt::format("the block has {} threads; the device allows {} at most", threads,
                     limits.max_threads_per_block),
         "too_many_threads");
  }
  return result;
}

LaunchExtents checked_cluster(const ExtentList& cluster, const LaunchExtents& grid) {
  const LaunchExtents result =
      checked_extents(cluster, {kMaxCluster, kMaxCluster, kMaxCluster}, "cluster");
  const std::int64_t blocks = product(cluster.sizes);
  if (blocks > kMaxCluster) {
    fail(cluster.at,
         fmt::format("the cluster has {} blocks; CUDA allows {} at most", blocks, kMaxCluster));
  }
  for (std::size_t i = 0; i < grid.size(); ++i) {
    if (grid[i] % result[i] != 0) {
      fail(cluster.each[i],
           fmt::format("the grid's {} is {}, which is not a multiple of the cluster's {}", kAxes[i],
                       grid[i], result[i]));
    }
  }
  return result;
}

std::uint32_t checked_shared(std::int64_t bytes, Position at, const DeviceLimits& limits) {
  if (bytes < 0) {
    fail(at, fmt::format("the bytes of shared memory are {}; they have to be 0 or more", bytes));
  }
  const std::int64_t most =
      std::min<std::int64_t>(limits.smem_bytes, std::numeric_limits<std::uint32_t>::max());
  if (bytes > most) {
    fail(at,
         fmt::format("a block asks for {} bytes of shared memory; the device has {} "
                     "(device.smem)",
                     bytes, most),
         "too_much_shared_memory");
  }
  return static_cast<std::uint32_t>(bytes);
}

}  // namespace kbench::plan
