// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "compile/diagnostics.hpp"
#include "compile/host/host_compile.hpp"

namespace kbench {

/// Reads the log of clang or GCC: the first error, with the line of the candidate's own text
/// ("cuda.cu, line 12: use of undeclared identifier 'foo'").
Diagnosis diagnose_host(std::string_view log, const HostRequest& request);

/// Whether one of the errors may come of headers of torch's that the usual prelude leaves out.
bool may_need_heavy(std::string_view log);

/// Whether the log speaks of precompiled headers: the compiler may have refused the one that it was
/// given, or the candidate's text may say so.
bool speaks_of_prelude(std::string_view log);

}  // namespace kbench
