// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "compile/host/host_compile.hpp"

namespace kbench {

/// A result as the cache keeps it. unpack_host_result throws kbench::Error where the bytes are
/// something else.
std::string pack(const HostResult& result);
HostResult unpack_host_result(std::string_view bytes);

}  // namespace kbench
