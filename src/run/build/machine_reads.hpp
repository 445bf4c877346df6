// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace kbench::run {

/// The flag of a candidate whose PTX reads what the machine is like.
inline constexpr std::string_view kReadsMachine = "reads_machine";

/// Whether code reads special registers by which the executor can be told from a GPU: numbers of
/// multiprocessors, of a block's warps on one, of grids, and sizes of shared memory. An image that
/// is no PTX is not looked at. Work that is divided by multiprocessor reads them as well, so this
/// is no verdict.
bool reads_machine(std::string_view image);

}  // namespace kbench::run
