// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "ptx/machine/machine.hpp"
#include "ptx/machine/program.hpp"

/// CUDA's limits of launches.
namespace kbench::ptx {

inline std::uint64_t product(const std::array<std::uint32_t, 3>& extents) {
  return std::uint64_t{extents[0]} * extents[1] * extents[2];
}

/// The fault of a refused launch. `why`: the reason.
Fault bad_launch(const Launch& launch, const std::string& why);

/// Number of blocks with `threads` threads and `shared` bytes that are resident on the device at
/// once.
std::uint64_t resident_blocks(const DeviceModel& device, std::uint64_t threads,
                              std::uint64_t shared);

/// Cluster extents of the launch or else of the kernel; one block if neither sets them.
std::array<std::uint32_t, 3> cluster_extents(const Function& kernel, const Launch& launch);

/// The fault if the device refuses the launch; none if it accepts it.
std::optional<Fault> check_launch(const Function& kernel, const Launch& launch,
                                  const DeviceModel& device);

}  // namespace kbench::ptx
