// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

namespace kbench {

/// A header that NVRTC gets in memory, because NVRTC lacks it or device code does not need its
/// content.
struct CompatibilityHeader {
  std::string_view name;  ///< as in #include <name>
  std::string_view text;
};

/// The header that is included before every candidate. It has what nvcc includes implicitly and a
/// little more that models expect, so that a forgotten #include is not an error.
inline constexpr std::string_view kPrelude = "kbench_prelude.h";

/// A variable template of kPrelude. The mangled name of an instance contains a kernel's type, so
/// parameters come from the compiler itself, even for extern "C" kernels and dependent types.
inline constexpr std::string_view kProbe = "kbench_parameters_of";

/// The table of headers; the first row is kPrelude. To add one: a row.
std::span<const CompatibilityHeader> compatibility_headers();

}  // namespace kbench
