// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plan/parser.hpp"

namespace kbench::plan {
namespace {

/// Far above honest plans, and low enough for any stack.
constexpr int kMaxDepth = 100;

struct BinaryRow {
  std::string_view sign;
  int level;  ///< a higher level binds tighter
  Op op;
};

constexpr std::array<BinaryRow, 13> kBinary{{
    {"||", 0, Op::kOr},
    {"&&", 1, Op::kAnd},
    {"==", 2, Op::kEqual},
    {"!=", 2, Op::kNotEqual},
    {"<", 3, Op::kLess},
    {"<=", 3, Op::kLessEqual},
    {">", 3, Op::kGreater},
    {">=", 3, Op::kGreaterEqual},
    {"+", 4, Op::kAdd},
    {"-", 4, Op::kSubtract},
    {"*", 5, Op::kMultiply},
    {"/", 5, Op::kDivide},
    {"%", 5, Op::kRemainder},
}};
constexpr int kRelationLevel = 3, kTightest = 5;

/// Sets a member, and restores its old value at the end of the scope.
template <typename T>
class Restore {
 public:
  Restore(T& member, T value) : member_(member), before_(member) { member_ = value; }
  ~Restore() { member_ = before_; }
  Restore(const Restore&) = delete;
  Restore& operator=(const Restore&) = delete;

 private:
  T& member_;
  T before_;
};

[[noreturn]] void too_deep(Position at) {
  fail(at, fmt::format("the expression is nested more than {} deep; name parts of it with `let`",
                       kMaxDepth));
}

}  // namespace

ExprId Parser::add(Expr expr) {
  for (const ExprId child : expr.children) {
    expr.depth = std::max(expr.depth, result_.expressions[child].depth + 1);
  }
  if (expr.depth > kMaxDepth) too_deep(expr.at);
  result_.expressions.push_back(std::move(expr));
  return result_.expressions.size() - 1;
}

ExprId Parser::expression() {
  if (nesting_ >= kMaxDepth) too_deep(peek().at);
  const Restore deeper(nesting_, nesting_ + 1);
  const ExprId condition = binary(0);
  if (!at("?")) return condition;
  Expr expr;
  expr.kind = Expr::Kind::kTernary;
  expr.at = next().at;
  const ExprId then = expression();
  expect(":", "between the two values of `?`");
  expr.children = {condition, then, expression()};
  return add(std::move(expr));
}

ExprId Parser::binary(int level) {
  if (level > kTightest) return unary();
  ExprId left = binary(level + 1);
  for (;;) {
    const Token& token = peek();
    if (token.kind != Token::Kind::kPunct || at_triple(">")) return left;
    if (level == kRelationLevel && !angles_compare_) return left;
    const auto* row = std::ranges::find_if(kBinary, [&](const BinaryRow& candidate) {
      return candidate.level == level && candidate.sign == token.text;
    });
    if (row == kBinary.end()) return left;
    Expr expr;
    expr.kind = Expr::Kind::kBinary;
    expr.op = row->op;
    expr.at = next().at;
    expr.children = {left, binary(level + 1)};
    left = add(std::move(expr));
  }
}

ExprId Parser::unary() {
  if (!at("-") && !at("!") && !at("+")) return postfix();
  if (nesting_ >= kMaxDepth) too_deep(peek().at);
  const Restore deeper(nesting_, nesting_ + 1);
  const Token& sign = next();
  const ExprId operand = unary();
  if (sign.text == "+") return operand;
  Expr expr;
  expr.kind = Expr::Kind::kUnary;
  expr.op = sign.text == "-" ? Op::kNegate : Op::kNot;
  expr.at = sign.at;
  expr.children = {operand};
  return add(std::move(expr));
}

ExprId Parser::postfix() {
  ExprId result = primary();
  while (at("[")) {
    Expr expr;
    expr.kind = Expr::Kind::kIndex;
    expr.at = open("[", "");
    const Restore compare(angles_compare_, true);
    expr.children = {result, expression()};
    close("]", expr.at);
    result = add(std::move(expr));
  }
  return result;
}

ExprId Parser::primary() {
  const Token token = next();
  Expr expr;
  expr.at = token.at;
  expr.text = token.text;
  switch (token.kind) {
    case Token::Kind::kInteger:
      expr.integer = token.integer;
      return add(std::move(expr));
    case Token::Kind::kFloat:
      expr.kind = Expr::Kind::kFloat;
      expr.number = token.number;
      return add(std::move(expr));
    case Token::Kind::kString:
      expr.kind = Expr::Kind::kString;
      return add(std::move(expr));
    case Token::Kind::kName:
      if (!token.quoted && at("(")) return call(token);
      expr.kind = Expr::Kind::kName;
      expr.quoted = token.quoted;
      return add(std::move(expr));
    default:
      break;
  }
  if (token.kind != Token::Kind::kPunct || token.text != "(") {
    fail(token.at, fmt::format("a number, a name or `(` is missing before {}", describe(token)));
  }
  ++open_;
  const Restore compare(angles_compare_, true);
  const ExprId inner = expression();
  close(")", token.at);
  return inner;
}

ExprId Parser::call(const Token& function) {
  Expr expr;
  expr.kind = Expr::Kind::kCall;
  expr.at = function.at;
  expr.text = function.text;
  const Position opened = open("(", "");
  expr.children = list_until(")", opened);
  return add(std::move(expr));
}

ExprId Parser::name() {
  const Token token = next();
  if (token.kind != Token::Kind::kName) {
    fail(token.at, fmt::format("the name of a tensor is missing before {}", describe(token)));
  }
  Expr expr;
  expr.kind = Expr::Kind::kName;
  expr.at = token.at;
  expr.text = token.text;
  expr.quoted = token.quoted;
  return add(std::move(expr));
}

ExprId Parser::dtype() {
  // Not an expression: in `float32[N]` the bracket is not an index.
  if (at("(") || (at_name("dtype") && peek_second().text == "(")) return primary();
  if (peek().kind != Token::Kind::kName) {
    fail(peek().at, fmt::format("a dtype (float32, int64, …, or dtype(x)) is missing before {}",
                                describe(peek())));
  }
  return name();
}

std::vector<ExprId> Parser::list_until(std::string_view bracket, Position opened) {
  const Restore compare(angles_compare_, true);
  std::vector<ExprId> items;
  if (!at(bracket)) {
    do {
      items.push_back(expression());
    } while (accept(","));
  }
  close(bracket, opened);
  return items;
}

}  // namespace kbench::plan
