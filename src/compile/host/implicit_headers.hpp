// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>

#include "compile/host/host_compile.hpp"

namespace kbench {

/// kbench compiles all host code with torch's precompiled headers. Sources with
/// `no_implicit_headers` must still include torch's headers themselves, as for torch's load_inline.
/// Returns an error "place:line: 'name' …" about the first name of torch or pybind11 that comes
/// before such an include, or nullopt. `texts` form one file. `is_bound`: a PYBIND11_MODULE follows
/// the texts.
std::optional<std::string> name_without_header(std::span<const HostText> texts, bool is_bound);

}  // namespace kbench
