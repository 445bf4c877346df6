// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace kbench {

/// The same PTX so that what is not defined shows: every register that some path may read before
/// anything was written to it holds a NaN (and a huge integer), and in some blocks with shared
/// memory half of the warps fall behind at the start and after each barrier, by turns, so that who
/// reads what another warp has yet to write reads something else. Empty where there is neither. A
/// kernel whose answer is defined gives the same; one that counts on what a GPU happens to do need
/// not.
std::string with_undefined_shown(std::string_view ptx);

}  // namespace kbench
