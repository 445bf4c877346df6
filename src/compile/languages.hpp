// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "compile/compile.hpp"

namespace kbench {

/// The compiler's options for a plan's flags, or why one of them is not allowed.
using Options = std::variant<std::vector<std::string>, CompileError>;

/// A language that candidates are written in, and what compiles it. To add one: its functions, and
/// a row in languages().
struct Language {
  std::string_view name;  ///< as in CompileRequest::language
  std::string_view way;   ///< as in Artifact::way
  Options (*options)(const std::vector<std::string>& flags);
  bool prelude = true;  ///< include what nvcc includes implicitly
};

std::span<const Language> languages();
/// The row of that name, or null.
const Language* find_language(std::string_view name);

/// One flag that a plan may give to NVRTC. Leading dashes are ignored. A value follows after "=",
/// or directly after the D for a macro.
struct Flag {
  enum class Value : std::uint8_t { kNone, kBool, kNumber, kStandard, kMacro };
  std::string_view name;
  Value value;
  bool passed;  ///< false: a flag of nvcc that is allowed but not passed to NVRTC
};

std::span<const Flag> nvrtc_flags();

}  // namespace kbench
