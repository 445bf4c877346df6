// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "compile/host/host_compile.hpp"

namespace kbench {

/// A result as the cache keeps it. unpack_host_result() throws kbench::Error if the bytes have
/// another form.
std::string pack(const HostResult& result);
HostResult unpack_host_result(std::string_view bytes);

}  // namespace kbench
