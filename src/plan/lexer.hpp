// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "plan/ast.hpp"

namespace kbench::plan {

struct Token {
  enum class Kind : std::uint8_t {
    kEnd,
    kNewline,  ///< end of a `//@` line
    kName,     ///< x, linear.weight, net.0.weight, `anything`
    kInteger,
    kFloat,
    kString,
    kWord,   ///< what stands after problem, flags and limit
    kPunct,  ///< one or two characters
  };
  Kind kind = Kind::kEnd;
  std::string_view text;  ///< without backticks or quotes
  Position at;
  bool quoted = false;  ///< a name in backticks
  bool glued = false;   ///< nothing stands between this token and the one before it
  std::int64_t integer = 0;
  double number = 0;
};

/// The tokens of all `//@` lines of `source`, closed by kEnd; they point into `source`. Throws
/// PlanFault, also where there is no such line or there are more than a hundred thousand tokens.
std::vector<Token> lex_plan(std::string_view source);

/// "`x`", "the end of the line", …: how messages call a token.
std::string describe(const Token& token);

}  // namespace kbench::plan
