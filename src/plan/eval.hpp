// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/ast.hpp"
#include "plan/scalar.hpp"
#include "plan/scope.hpp"

namespace kbench::plan {

/// Names the kind of a value in messages: "an integer", "a tensor", "a list", …
std::string_view kind_of(const PlanValue& value);

/// Returns `value` as a number. Throws PlanFault for other types; the message says how to get one.
Number number_of(const PlanValue& value, Position at);
/// Returns `value` as an integer; accepts a float without a fraction.
std::int64_t integer_of(const PlanValue& value, Position at);
double real_of(const PlanValue& value, Position at);

/// Evaluates expressions in a scope by C's rules: integers stay integers, division truncates.
/// Overflow, division by zero and too many steps over its lifetime throw PlanFault.
class Evaluator {
 public:
  Evaluator(const std::vector<Expr>& expressions, const Scope& scope)
      : expressions_(expressions), scope_(scope) {}

  PlanValue value(ExprId id);
  std::int64_t integer(ExprId id) { return integer_of(value(id), at(id)); }
  bool condition(ExprId id);
  TensorRef tensor(ExprId id);
  DType dtype(ExprId id);
  /// A template argument as C++ text.
  std::string template_text(const TemplateArgument& argument);

  Position at(ExprId id) const;
  const Expr& expr(ExprId id) const { return expressions_[id]; }
  const Scope& scope() const { return scope_; }

 private:
  PlanValue name(const Expr& expr) const { return scope_.lookup(expr); }
  PlanValue indexed(const Expr& expr);
  PlanValue unary(const Expr& expr);
  PlanValue binary(const Expr& expr);
  PlanValue call(const Expr& expr);
  std::string literal(const PlanValue& value, Position at) const;
  void count_step(Position at);

  const std::vector<Expr>& expressions_;
  const Scope& scope_;
  std::int64_t steps_ = 0;
};

/// The arguments of a function of the plan language.
struct Call {
  const Scope& scope;
  Position at;
  std::span<const PlanValue> arguments;
  std::span<const Position> positions;
};

/// One function of the plan language. To add one: the function, and a row in functions().
struct FunctionRow {
  std::string_view name;
  std::size_t min_arguments, max_arguments;
  std::string_view usage;  ///< "cdiv(a, b)"
  PlanValue (*call)(const Call&);
};
std::span<const FunctionRow> functions();

}  // namespace kbench::plan
