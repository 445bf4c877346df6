// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "plan/eval.hpp"

namespace kbench::plan {
namespace {

std::string integer_literal(std::int64_t value) {
  // C++ has no literal for the smallest int64.
  if (value == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807LL - 1)";
  return fmt::format("{}", value);
}

/// Nine digits distinguish any two floats. The literal is a float: kernels declare such parameters
/// as float, and C++20 does not convert a double template argument.
std::string float_literal(double value, Position at) {
  if (!std::isfinite(value) || std::fabs(value) > std::numeric_limits<float>::max()) {
    fail(at,
         fmt::format("{} cannot be a template argument; pass it as an argument of the kernel",
                     value),
         "type_mismatch");
  }
  std::string text = fmt::format("{:.9g}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + "f";
}

}  // namespace

std::string Evaluator::literal(const PlanValue& value, Position at) const {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return integer_literal(*integer);
  if (const auto* real = std::get_if<double>(&value)) return float_literal(*real, at);
  if (const auto* dtype = std::get_if<DType>(&value)) {
    return std::string(dtype_row(*dtype).cuda_type);
  }
  const std::string_view kind = kind_of(value);
  fail(at,
       fmt::format("{} cannot be a template argument{}", kind,
                   kind == "a tensor" ? "; its type is dtype(x)" : ""),
       "type_mismatch");
}

std::string Evaluator::template_text(const TemplateArgument& argument) {
  if (const ExprId* id = std::get_if<ExprId>(&argument)) {
    const Expr& expr = expressions_[*id];
    count_step(expr.at);
    const bool bare = expr.kind == Expr::Kind::kName && !expr.quoted;
    // A bare name that the plan does not know is a type or a constant of the C++ code.
    if (bare && expr.text.find('.') == std::string::npos && !scope_.find(expr.text, false)) {
      return expr.text;
    }
    return literal(value(*id), at(*id));
  }
  std::string text;
  bool after_word = false;
  for (const TypePiece& piece : std::get<std::vector<TypePiece>>(argument)) {
    count_step(piece.at);
    std::string word = piece.text;
    if (const auto known = scope_.find(piece.text, false); piece.is_name && known) {
      word = literal(*known, piece.at);
    }
    const char first = piece.text.front();
    const bool is_word = std::isalnum(static_cast<unsigned char>(first)) != 0 || first == '_';
    if ((after_word && is_word) || (!text.empty() && text.back() == ',')) text += ' ';
    text += word;
    after_word = is_word;
  }
  return text;
}

}  // namespace kbench::plan
