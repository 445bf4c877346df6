// SPDX-License-Identifier: MIT
#include "plan/eval.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kbench::plan {
namespace {

constexpr std::int64_t kMaxSteps = 5'000'000;

[[noreturn]] void overflow(Position at) {
  fail(at, "the result does not fit in 64 bits; use smaller numbers or a float (2.0)");
}

[[noreturn]] void divided_by_zero(Position at) {
  fail(at, "a division by zero; guard it with `?:`");
}

std::int64_t integer_arithmetic(Op op, std::int64_t a, std::int64_t b, Position at) {
  std::int64_t result = 0;
  bool overflowed = false;
  switch (op) {
    case Op::kAdd:
      overflowed = __builtin_add_overflow(a, b, &result);
      break;
    case Op::kSubtract:
      overflowed = __builtin_sub_overflow(a, b, &result);
      break;
    case Op::kMultiply:
      overflowed = __builtin_mul_overflow(a, b, &result);
      break;
    default:
      if (b == 0) divided_by_zero(at);
      if (b == -1 && op == Op::kRemainder) return 0;
      if (b == -1) {
        overflowed = __builtin_sub_overflow(std::int64_t{0}, a, &result);
        break;
      }
      result = op == Op::kDivide ? a / b : a % b;
  }
  if (overflowed) overflow(at);
  return result;
}

double real_arithmetic(Op op, double a, double b, Position at) {
  switch (op) {
    case Op::kAdd:
      return a + b;
    case Op::kSubtract:
      return a - b;
    case Op::kMultiply:
      return a * b;
    case Op::kDivide:
      if (b == 0) divided_by_zero(at);
      return a / b;
    default:
      fail(at, "`%` is for integers, and one side is a float");
  }
}

template <typename T>
bool compare(Op op, const T& a, const T& b) {
  switch (op) {
    case Op::kLess:
      return a < b;
    case Op::kLessEqual:
      return a <= b;
    case Op::kGreater:
      return a > b;
    case Op::kGreaterEqual:
      return a >= b;
    case Op::kEqual:
      return a == b;
    default:
      return a != b;
  }
}

bool is_comparison(Op op) { return op >= Op::kLess && op <= Op::kNotEqual; }

/// == and != of texts and dtypes; nothing for other types.
std::optional<bool> compare_words(Op op, const PlanValue& a, const PlanValue& b) {
  if (op != Op::kEqual && op != Op::kNotEqual) return std::nullopt;
  const bool words = (std::holds_alternative<std::string_view>(a) &&
                      std::holds_alternative<std::string_view>(b)) ||
                     (std::holds_alternative<DType>(a) && std::holds_alternative<DType>(b));
  if (!words) return std::nullopt;
  return (a == b) == (op == Op::kEqual);
}

bool is_real(const Number& number) { return std::holds_alternative<double>(number); }

std::int64_t as_integer(const Number& number) {
  const bool* flag = std::get_if<bool>(&number);
  return flag != nullptr ? std::int64_t{*flag} : std::get<std::int64_t>(number);
}

double as_real(const Number& number) {
  return std::visit([](auto n) { return static_cast<double>(n); }, number);
}

}  // namespace

std::string_view kind_of(const PlanValue& value) {
  struct Kind {
    std::string_view operator()(bool) const { return "a bool"; }
    std::string_view operator()(std::int64_t) const { return "an integer"; }
    std::string_view operator()(double) const { return "a float"; }
    std::string_view operator()(DType) const { return "a dtype"; }
    std::string_view operator()(TensorRef) const { return "a tensor"; }
    std::string_view operator()(std::string_view) const { return "a text"; }
    std::string_view operator()(const std::vector<std::int64_t>*) const { return "a list"; }
    std::string_view operator()(const std::vector<double>*) const { return "a list"; }
  };
  return std::visit(Kind{}, value);
}

Number number_of(const PlanValue& value, Position at) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  const std::string_view kind = kind_of(value);
  const std::string_view advice = kind == "a tensor" ? "; use numel(x) or size(x, i)"
                                  : kind == "a list" ? "; choose an element, as in conv.stride[0]"
                                                     : "";
  fail(at, fmt::format("a number is needed here, and this is {}{}", kind, advice), "type_mismatch");
}

std::int64_t integer_of(const PlanValue& value, Position at) {
  const Encoded integer = encode({ScalarFormat::Kind::kSigned, 8, 0}, number_of(value, at));
  if (!integer.bits) {
    fail(at, fmt::format("an integer is needed here, and {}", integer.why_none), "type_mismatch");
  }
  return static_cast<std::int64_t>(*integer.bits);
}

double real_of(const PlanValue& value, Position at) { return as_real(number_of(value, at)); }

void Evaluator::count_step(Position at) {
  if (++steps_ > kMaxSteps) {
    fail(at, fmt::format("the plan takes more than {} steps to evaluate; shorten its loops",
                         kMaxSteps));
  }
}

Position Evaluator::at(ExprId id) const {
  const Expr* expr = &expressions_[id];
  // The position of the expression's first token, not of its operator.
  while (expr->kind == Expr::Kind::kBinary || expr->kind == Expr::Kind::kTernary ||
         expr->kind == Expr::Kind::kIndex) {
    expr = &expressions_[expr->children.front()];
  }
  return expr->at;
}

PlanValue Evaluator::value(ExprId id) {
  const Expr& expr = expressions_[id];
  count_step(expr.at);
  switch (expr.kind) {
    case Expr::Kind::kInteger:
      return expr.integer;
    case Expr::Kind::kFloat:
      return expr.number;
    case Expr::Kind::kString:
      return std::string_view(expr.text);
    case Expr::Kind::kName:
      return name(expr);
    case Expr::Kind::kIndex:
      return indexed(expr);
    case Expr::Kind::kUnary:
      return unary(expr);
    case Expr::Kind::kBinary:
      return binary(expr);
    case Expr::Kind::kTernary:
      return value(expr.children[condition(expr.children[0]) ? 1 : 2]);
    default:
      return call(expr);
  }
}

PlanValue Evaluator::indexed(const Expr& expr) {
  const PlanValue list = value(expr.children[0]);
  const std::int64_t index = integer(expr.children[1]);
  const auto pick = [&](const auto& numbers) -> PlanValue {
    const auto size = static_cast<std::int64_t>(numbers.size());
    if (index < -size || index >= size) {
      fail(at(expr.children[1]),
           fmt::format("there is no element {}; the list has {}", index, size));
    }
    return numbers[static_cast<std::size_t>(index < 0 ? index + size : index)];
  };
  if (const auto* integers = std::get_if<const std::vector<std::int64_t>*>(&list)) {
    return pick(**integers);
  }
  if (const auto* reals = std::get_if<const std::vector<double>*>(&list)) return pick(**reals);
  const bool tensor = std::holds_alternative<TensorRef>(list);
  fail(expr.at,
       tensor ? "the elements of a tensor are not known to a plan; its sizes are, as size(x, 0)"
              : fmt::format("only lists have elements, and this is {}; remove the index",
                            kind_of(list)),
       "type_mismatch");
}

bool Evaluator::condition(ExprId id) { return as_real(number_of(value(id), at(id))) != 0; }

PlanValue Evaluator::unary(const Expr& expr) {
  const Number operand = number_of(value(expr.children[0]), at(expr.children[0]));
  if (expr.op == Op::kNot) return as_real(operand) == 0;
  if (is_real(operand)) return -as_real(operand);
  return integer_arithmetic(Op::kSubtract, 0, as_integer(operand), expr.at);
}

PlanValue Evaluator::binary(const Expr& expr) {
  if (expr.op == Op::kAnd) return condition(expr.children[0]) && condition(expr.children[1]);
  if (expr.op == Op::kOr) return condition(expr.children[0]) || condition(expr.children[1]);
  const PlanValue left = value(expr.children[0]);
  const PlanValue right = value(expr.children[1]);
  if (const auto words = compare_words(expr.op, left, right)) return *words;
  const Number a = number_of(left, at(expr.children[0]));
  const Number b = number_of(right, at(expr.children[1]));
  const bool real = is_real(a) || is_real(b);
  if (is_comparison(expr.op)) {
    return real ? compare(expr.op, as_real(a), as_real(b))
                : compare(expr.op, as_integer(a), as_integer(b));
  }
  if (real) return real_arithmetic(expr.op, as_real(a), as_real(b), expr.at);
  return integer_arithmetic(expr.op, as_integer(a), as_integer(b), expr.at);
}

PlanValue Evaluator::call(const Expr& expr) {
  const auto rows = functions();
  const auto row = std::ranges::find(rows, expr.text, &FunctionRow::name);
  if (row == rows.end()) {
    std::vector<std::string_view> known;
    for (const FunctionRow& function : rows) known.push_back(function.name);
    fail(expr.at,
         fmt::format("there is no function `{}`{}; there are {}", expr.text.substr(0, 60),
                     did_you_mean(expr.text, known), fmt::join(known, ", ")),
         "unknown_name");
  }
  if (expr.children.size() < row->min_arguments || expr.children.size() > row->max_arguments) {
    fail(expr.at,
         fmt::format("`{}` does not take {} argument{}; write {}", row->name, expr.children.size(),
                     expr.children.size() == 1 ? "" : "s", row->usage));
  }
  std::vector<PlanValue> arguments;
  std::vector<Position> positions;
  for (const ExprId child : expr.children) {
    arguments.push_back(value(child));
    positions.push_back(at(child));
  }
  return row->call({scope_, expr.at, arguments, positions});
}

TensorRef Evaluator::tensor(ExprId id) {
  const PlanValue result = value(id);
  if (const auto* tensor = std::get_if<TensorRef>(&result)) return *tensor;
  fail(at(id), fmt::format("a tensor is needed here, and this is {}", kind_of(result)),
       "type_mismatch");
}

DType Evaluator::dtype(ExprId id) {
  const PlanValue result = value(id);
  if (const auto* dtype = std::get_if<DType>(&result)) return *dtype;
  fail(at(id),
       fmt::format("a dtype is needed here (float32, int64, …, dtype(x)), and this is {}",
                   kind_of(result)),
       "type_mismatch");
}

}  // namespace kbench::plan
