// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>

#include "compile/host/host_compile.hpp"

namespace kbench {

/// kbench compiles every host half behind torch's precompiled headers. Sources that get none from
/// load_inline (`no_implicit_headers`) must bring them nevertheless: this is the first name of
/// torch's or pybind11's that stands before any of their headers in texts which are one file, as
/// "place:line: 'name' …", or nothing. `is_bound`: a PYBIND11_MODULE is written behind the texts.
std::optional<std::string> name_without_header(std::span<const HostText> texts, bool is_bound);

}  // namespace kbench
