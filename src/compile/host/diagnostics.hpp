// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "compile/diagnostics.hpp"
#include "compile/host/host_compile.hpp"

namespace kbench {

/// Finds the first error in a log of clang, GCC or nvcc. The message gives the line of the
/// candidate's own text ("cuda.cu, line 12: use of undeclared identifier 'foo'").
Diagnosis diagnose_host(std::string_view log, const HostRequest& request);

/// True if an error may be due to headers of torch that HeaderSet::kUsual leaves out.
bool may_need_heavy(std::string_view log);

/// True if the log mentions precompiled headers. The compiler may have refused one, or the
/// candidate's text contains the words.
bool speaks_of_precompiled_header(std::string_view log);

}  // namespace kbench
