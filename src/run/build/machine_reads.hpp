// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace kbench::run {

/// The flag of a candidate whose PTX reads properties of the machine.
inline constexpr std::string_view kReadsMachine = "reads_machine";

/// True if code reads special registers that differ between the executor and a GPU, such as the
/// number of multiprocessors, warps per multiprocessor or grids, or sizes of shared memory. False
/// for an image that is not PTX. Honest code that divides its work by multiprocessor also reads
/// them, so this does not make a candidate wrong.
bool reads_machine(std::string_view image);

}  // namespace kbench::run
