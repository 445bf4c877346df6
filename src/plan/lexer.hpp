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
    kWord,   ///< a word after problem, flags or limit
    kPunct,  ///< one or two characters
  };
  Kind kind = Kind::kEnd;
  std::string_view text;  ///< without backticks or quotes
  Position at;
  bool quoted = false;  ///< a name in backticks
  bool glued = false;   ///< no blank before this token
  std::int64_t integer = 0;
  double number = 0;
};

/// Returns the tokens of all `//@` lines of `source`, ended by kEnd; they point into `source`.
/// Throws PlanFault for a mistake, no such line, or more than a hundred thousand tokens.
std::vector<Token> lex_plan(std::string_view source);

/// Names a token in messages: "`x`", "the end of the line", …
std::string describe(const Token& token);

}  // namespace kbench::plan
