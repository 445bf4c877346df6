// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <string>
#include <variant>

#include "compile/compile.hpp"
#include "kbench/error.hpp"

namespace kbench {

/// A fault of kbench-cc itself. kbench-cc reports it over a channel to which neither a compiler nor
/// a candidate's text can write.
class CompilerFault : public Error {
 public:
  using Error::Error;
};

inline constexpr const char* kCompilerFault = "compiler_fault";

/// Returns the result of `compile()`; tries once more after a CompilerFault. After a second fault,
/// `works()` tells if a plain source compiles. If it does, the fault is this source's, so the
/// result is a CompileError `compiler_fault`. Otherwise throws the second fault.
template <typename Compile, typename Works>
auto settle_fault(Compile compile, Works works) -> std::variant<decltype(compile()), CompileError> {
  try {
    return compile();
  } catch (const CompilerFault&) {
    // A transient fault does not recur.
  }
  try {
    return compile();
  } catch (const CompilerFault& fault) {
    if (!works()) throw;
    return compile_error(kCompilerFault,
                         fmt::format("kbench's compiler process failed twice on this "
                                     "source, but not on a plain one: {}",
                                     fault.what()));
  }
}

}  // namespace kbench
