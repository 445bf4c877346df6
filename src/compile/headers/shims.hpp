// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

namespace kbench {

/// A header that NVRTC lacks or that a device-only compile needs nothing of, given to it in memory.
struct Shim {
  std::string_view name;  ///< as in #include <name>
  std::string_view text;
};

/// The header that is read before every candidate: what nvcc's implicit includes would have
/// brought, and the little more that models expect, so that a forgotten #include is no compile
/// failure.
inline constexpr std::string_view kPrelude = "kbench_prelude.h";

/// A variable template of the prelude whose instances carry a kernel's type in their names: the
/// compiler itself says what the parameters are, also of extern "C" kernels and dependent types.
inline constexpr std::string_view kProbe = "kbench_parameters_of";

/// The table of headers; the first row is the prelude. To add one: a row.
std::span<const Shim> shims();

}  // namespace kbench
