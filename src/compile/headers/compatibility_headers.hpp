// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

namespace kbench {

/// A compatibility header, given to NVRTC in memory: one that NVRTC lacks, or from which device
/// code needs nothing.
struct CompatibilityHeader {
  std::string_view name;  ///< as in #include <name>
  std::string_view text;
};

/// The header that is included before every candidate. It has what nvcc includes implicitly and a
/// little more that models expect, so that a forgotten #include is no compile failure.
inline constexpr std::string_view kPrelude = "kbench_prelude.h";

/// A variable template of kPrelude. The mangled name of an instance contains a kernel's type, so
/// the compiler itself gives the parameters, also of extern "C" kernels and dependent types.
inline constexpr std::string_view kProbe = "kbench_parameters_of";

/// The table of headers; the first row is kPrelude. To add one: a row.
std::span<const CompatibilityHeader> compatibility_headers();

}  // namespace kbench
