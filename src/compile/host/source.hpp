// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compile/host/host_compile.hpp"

namespace kbench {

/// What diagnostics call the text that binds HostRequest::functions.
inline constexpr std::string_view kBindingsName = "bindings";

/// The text as compilers are to see it: diagnostics count its own lines under its name.
std::string named_text(const HostText& text);

/// The PYBIND11_MODULE that torch's load_inline writes for `functions`, one a line.
std::string bindings(const HostRequest& request);

/// What stands before a text: torch's headers that it includes, ahead of the macros that would
/// disturb them, and then these macros.
std::string preamble(std::string_view text);

/// The texts of a host half as one translation unit: cpp_sources, bindings, cuda_sources,
/// after their preamble.
std::string joined_source(const HostRequest& request);

/// The same as torch compiles them: one unit of the cpp_sources with the bindings, one of each
/// cuda_source.
std::vector<std::string> separate_sources(const HostRequest& request);

/// The options of extra_cflags that have a meaning here (-D, -U, -I, -std), in order.
struct HostFlags {
  std::string standard;              ///< "c++20"; empty: the usual one
  std::string macros;                ///< #define and #undef lines, to stand before the source
  std::vector<std::string> folders;  ///< of -I
};
HostFlags read_flags(const std::vector<std::string>& flags);

}  // namespace kbench
