// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compile/host/host_compile.hpp"

namespace kbench {

/// The name of the text that binds HostRequest::functions, for diagnostics.
inline constexpr std::string_view kBindingsName = "bindings";

/// The text after a #line directive, so that diagnostics use its name and its lines.
std::string named_text(const HostText& text);

/// The PYBIND11_MODULE that torch's load_inline writes for `functions`, one function per line.
std::string bindings(const HostRequest& request);

/// The text before a source: torch's headers that the source includes, then kbench's macros, which
/// would disturb those headers.
std::string preamble(std::string_view text);

/// The host code as one translation unit: the preamble, cpp_sources, bindings, cuda_sources.
std::string joined_source(const HostRequest& request);

/// The host code in units as torch compiles it: one of the cpp_sources with the bindings, and one
/// for each cuda_source.
std::vector<std::string> separate_sources(const HostRequest& request);

/// The options of extra_cflags that kbench uses (-D, -U, -I, -std), in order.
struct HostFlags {
  std::string standard;              ///< "c++20"; empty: the usual one
  std::string macros;                ///< #define and #undef lines to put before the source
  std::vector<std::string> folders;  ///< from -I
};
HostFlags read_flags(const std::vector<std::string>& flags);

}  // namespace kbench
