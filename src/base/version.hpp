// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace kbench {

/// Version of kbench, as in CMakeLists.txt.
inline constexpr std::string_view kVersion = KBENCH_VERSION;

}  // namespace kbench
