// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace kbench::run {

/// The flag of a candidate whose PTX reads properties of the machine.
inline constexpr std::string_view kReadsMachine = "reads_machine";

/// True if code reads special registers that differ between the executor and a GPU: numbers of
/// multiprocessors, of a block's warps on one, of grids, and sizes of shared memory. False for an
/// image that is not PTX. Honest code that divides its work by multiprocessor reads them too, so
/// this is no verdict.
bool reads_machine(std::string_view image);

}  // namespace kbench::run
