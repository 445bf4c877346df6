// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "ptx/machine/machine.hpp"
#include "ptx/machine/program.hpp"

/// What a device takes as a launch, as CUDA has it.
namespace kbench::ptx {

inline std::uint64_t product(const std::array<std::uint32_t, 3>& extents) {
  return std::uint64_t{extents[0]} * extents[1] * extents[2];
}

/// A launch that is refused, and why.
Fault bad_launch(const Launch& launch, const std::string& why);

/// Blocks of so many threads and bytes of shared memory that are on the device at once.
std::uint64_t resident_blocks(const DeviceModel& device, std::uint64_t threads,
                              std::uint64_t shared);

/// The clusters that the launch or the kernel names; of one block where neither does.
std::array<std::uint32_t, 3> cluster_extents(const Function& kernel, const Launch& launch);

/// Why the device refuses the launch, if it does.
std::optional<Fault> check_launch(const Function& kernel, const Launch& launch,
                                  const DeviceModel& device);

}  // namespace kbench::ptx
