// SPDX-License-Identifier: MIT
#include "ptx/launch/launch_limits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/machine/names.hpp"

namespace kbench::ptx {
namespace {

/// ptxas refuses more; only dynamic shared memory may be larger.
constexpr std::uint64_t kMostStaticShared = std::uint64_t{48} * 1024;

std::optional<Fault> check_shared(const Function& kernel, const Launch& launch,
                                  const DeviceModel& device) {
  if (kernel.static_shared_bytes > kMostStaticShared) {
    return bad_launch(
        launch, fmt::format("uses {} bytes of static shared memory; the limit is {}: make the "
                            "rest dynamic (extern __shared__)",
                            kernel.static_shared_bytes, kMostStaticShared));
  }
  const std::uint64_t shared =
      std::uint64_t{kernel.static_shared_bytes} + launch.dynamic_shared_bytes;
  if (shared > device.shared_bytes_per_block) {
    return bad_launch(launch, fmt::format("uses {} bytes of shared memory per block; the device "
                                          "has {}",
                                          shared, device.shared_bytes_per_block));
  }
  return std::nullopt;
}

std::optional<Fault> check_arguments(const Function& kernel, const Launch& launch) {
  if (launch.arguments.size() != kernel.parameters.size()) {
    return bad_launch(launch, fmt::format("takes {} arguments but was given {}",
                                          kernel.parameters.size(), launch.arguments.size()));
  }
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    if (launch.arguments[i].size() == kernel.parameters[i].bytes) continue;
    return bad_launch(launch, fmt::format("argument {} has {} bytes instead of {}", i + 1,
                                          launch.arguments[i].size(), kernel.parameters[i].bytes));
  }
  return std::nullopt;
}

constexpr std::uint64_t kMaxCluster = 8;  // blocks; every device with clusters supports this size

std::optional<Fault> check_cluster(const Function& kernel, const Launch& launch) {
  const auto extents = cluster_extents(kernel, launch);
  const bool named = launch.cluster[0] != 0;
  if (kernel.needs_cluster && !named && kernel.required_cluster[0] == 0) {
    return bad_launch(launch, "the kernel has to be launched with clusters");
  }
  if (named && kernel.required_cluster[0] != 0 && extents != kernel.required_cluster) {
    return bad_launch(launch, "the cluster differs from the one that the kernel requires");
  }
  const std::uint64_t most = kernel.max_cluster != 0
                                 ? std::min<std::uint64_t>(kernel.max_cluster, kMaxCluster)
                                 : kMaxCluster;
  if (product(extents) > most) {
    return bad_launch(
        launch, fmt::format("the cluster has {} blocks; the limit is {}", product(extents), most));
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (launch.grid[axis] % extents[axis] == 0) continue;
    return bad_launch(launch, "the grid is not a multiple of the cluster");
  }
  return std::nullopt;
}

}  // namespace

Fault bad_launch(const Launch& launch, const std::string& why) {
  Fault fault;
  fault.kind = FaultKind::kBadLaunch;
  fault.kernel = readable_name(launch.kernel);
  fault.message = fmt::format("{}: {}", fault.kernel, why);
  return fault;
}

std::uint64_t resident_blocks(const DeviceModel& device, std::uint64_t threads,
                              std::uint64_t shared) {
  std::uint64_t per_sm = device.max_blocks_per_sm;
  const std::uint64_t warps = (threads + kLanes - 1) / kLanes;
  per_sm = std::min(per_sm, device.max_threads_per_sm / (warps * kLanes));
  if (shared > 0) per_sm = std::min(per_sm, device.shared_bytes_per_sm / shared);
  return std::max<std::uint64_t>(per_sm, 1) * device.sms;
}

std::array<std::uint32_t, 3> cluster_extents(const Function& kernel, const Launch& launch) {
  const auto& named = launch.cluster[0] != 0 ? launch.cluster : kernel.required_cluster;
  std::array<std::uint32_t, 3> extents{};
  for (std::size_t axis = 0; axis < 3; ++axis) extents[axis] = std::max(named[axis], 1U);
  return extents;
}

std::optional<Fault> check_launch(const Function& kernel, const Launch& launch,
                                  const DeviceModel& device) {
  const std::uint64_t threads = product(launch.block);
  if (threads == 0 || product(launch.grid) == 0) {
    return bad_launch(launch, "the grid or the block is empty");
  }
  const bool axis_too_large =
      launch.block[0] > 1024 || launch.block[1] > 1024 || launch.block[2] > 64;
  if (threads > device.max_threads_per_block || axis_too_large) {
    return bad_launch(launch, fmt::format("a block of ({}, {}, {}) threads is too large",
                                          launch.block[0], launch.block[1], launch.block[2]));
  }
  if (launch.grid[0] > 0x7fffffffU || launch.grid[1] > 65535 || launch.grid[2] > 65535) {
    return bad_launch(launch, fmt::format("a grid of ({}, {}, {}) blocks is too large",
                                          launch.grid[0], launch.grid[1], launch.grid[2]));
  }
  const std::uint64_t bound = product(kernel.max_threads);
  if (bound != 0 && threads > bound) {
    return bad_launch(
        launch,
        fmt::format("the block has {} threads; the kernel's launch bound is {}", threads, bound));
  }
  if (product(kernel.required_threads) != 0 && kernel.required_threads != launch.block) {
    return bad_launch(launch, "the block differs from the one that the kernel requires");
  }
  if (auto fault = check_shared(kernel, launch, device)) return fault;
  const std::uint64_t shared =
      std::uint64_t{kernel.static_shared_bytes} + launch.dynamic_shared_bytes;
  const std::uint64_t resident = resident_blocks(device, threads, shared);
  if (launch.cooperative && product(launch.grid) > resident) {
    return bad_launch(launch,
                      fmt::format("the cooperative grid has {} blocks; the device can hold {}",
                                  product(launch.grid), resident));
  }
  if (auto fault = check_arguments(kernel, launch)) return fault;
  return check_cluster(kernel, launch);
}

}  // namespace kbench::ptx
