// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace kbench {

/// Changes PTX so that undefined behaviour shows. Every register that some path may read before it
/// is written holds a NaN (and a huge integer). In some blocks with shared memory or barriers, half
/// of the warps are delayed at the start and after each barrier, in alternation. A warp that reads
/// another warp's data too early then reads something else. Returns "" if there is nothing to
/// change. A kernel with a defined result keeps its result; other kernels may not.
std::string with_undefined_shown(std::string_view ptx);

}  // namespace kbench
