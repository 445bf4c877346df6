// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <string>
#include <variant>

#include "compile/compile.hpp"
#include "kbench/error.hpp"

namespace kbench {

/// A fault that a process of kbench-cc reported of itself, by a channel that neither a compiler nor
/// a candidate's text can write to.
class CompilerFault : public Error {
 public:
  using Error::Error;
};

inline constexpr const char* kCompilerFault = "compiler_fault";

/// What `compile()` returns; it is tried again after a CompilerFault. If the fault repeats, and
/// `works()` says that another source goes through, this source causes it: a CompileError
/// `compiler_fault`. Else the second fault is thrown.
template <typename Compile, typename Works>
auto settle_fault(Compile compile, Works works) -> std::variant<decltype(compile()), CompileError> {
  try {
    return compile();
  } catch (const CompilerFault&) {
    // A fault of the moment does not come twice.
  }
  try {
    return compile();
  } catch (const CompilerFault& fault) {
    if (!works()) throw;
    return CompileError{
        kCompilerFault,
        fmt::format("kbench's compiler process failed twice with this source, but not with "
                    "another one: {}",
                    fault.what()),
        {},
        0,
        false,
        0};
  }
}

}  // namespace kbench
