// SPDX-License-Identifier: MIT
#pragma once

namespace kbench {

/// How kbench-cc ends where the fault is not the source's; its standard error says what it is.
inline constexpr int kFaultExit = 70;

}  // namespace kbench
