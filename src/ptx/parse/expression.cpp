// SPDX-License-Identifier: MIT
#include <array>
#include <bit>

#include "ptx/parse/grammar.hpp"

// Constant expressions with C's operators, precedence and signedness, on 64 bits.
namespace kbench::ptx {
namespace {

using u64 = std::uint64_t;
using s64 = std::int64_t;

struct Operator {
  std::string_view text;
  int precedence;
};

constexpr std::array kOperators{
    Operator{"||", 1}, Operator{"&&", 2}, Operator{"|", 3},  Operator{"^", 4},  Operator{"&", 5},
    Operator{"==", 6}, Operator{"!=", 6}, Operator{"<", 7},  Operator{"<=", 7}, Operator{">", 7},
    Operator{">=", 7}, Operator{"<<", 8}, Operator{">>", 8}, Operator{"+", 9},  Operator{"-", 9},
    Operator{"*", 10}, Operator{"/", 10}, Operator{"%", 10}};

const Operator* operator_at(const Cursor& cursor) {
  for (const Operator& row : kOperators) {
    if (cursor.at(row.text)) return &row;
  }
  return nullptr;
}

bool is_integer(const Operand& operand) { return operand.kind == Operand::Kind::kInteger; }

double value_of(const Operand& operand) {
  if (operand.kind == Operand::Kind::kFloat32) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits));
  }
  return std::bit_cast<double>(operand.bits);
}

class Evaluator {
 public:
  explicit Evaluator(Cursor& cursor) : cursor_(cursor) {}

  Operand ternary() {
    const Nesting nesting(*this);
    Operand condition = binary(1);
    if (!cursor_.accept("?")) return condition;
    const Operand yes = ternary();
    cursor_.expect(":");
    const Operand no = ternary();
    return condition.bits != 0 ? yes : no;
  }

 private:
  struct Nesting {
    explicit Nesting(Evaluator& evaluator) : depth(evaluator.depth_) {
      if (++depth > kMaxNesting) evaluator.cursor_.fail("expressions nested too deeply");
    }
    ~Nesting() { --depth; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    int& depth;
  };

  Operand binary(int least) {
    Operand left = unary();
    while (const Operator* row = operator_at(cursor_)) {
      if (row->precedence < least) break;
      cursor_.take();
      left = apply(row->text, left, binary(row->precedence + 1));
    }
    return left;
  }

  Operand unary() {
    const Nesting nesting(*this);
    if (cursor_.accept("+")) return unary();
    if (cursor_.accept("-")) return negative(unary());
    if (cursor_.accept("~")) {
      Operand value = integer(unary());
      value.bits = ~value.bits;
      return value;
    }
    if (cursor_.accept("!")) return made(integer(unary()).bits == 0 ? 1 : 0, false);
    if (cursor_.accept("WARP_SZ")) return made(32, false);
    if (!cursor_.accept("(")) return parse_number(cursor_.take());
    if (cursor_.at(".u64") || cursor_.at(".s64")) {
      const bool is_unsigned = cursor_.take().text == ".u64";
      cursor_.expect(")");
      return made(integer(unary()).bits, is_unsigned);
    }
    Operand value = ternary();
    cursor_.expect(")");
    return value;
  }

  static Operand made(u64 bits, bool is_unsigned) {
    Operand operand;
    operand.kind = Operand::Kind::kInteger;
    operand.bits = bits;
    operand.is_unsigned = is_unsigned;
    return operand;
  }

  Operand integer(Operand operand) const {
    if (!is_integer(operand)) cursor_.fail("expected an integer, not a floating-point value,");
    return operand;
  }

  static Operand negative(Operand operand) {
    if (is_integer(operand)) {
      operand.bits = 0 - operand.bits;
    } else {
      operand.bits ^= operand.kind == Operand::Kind::kFloat32 ? u64{1} << 31 : u64{1} << 63;
    }
    return operand;
  }

  Operand apply(std::string_view op, const Operand& a, const Operand& b) const {
    if (!is_integer(a) && !is_integer(b) && op.size() == 1 &&
        std::string_view("+-*/").find(op[0]) != std::string_view::npos) {
      return floating(op[0], value_of(a), value_of(b));
    }
    const u64 x = integer(a).bits, y = integer(b).bits;
    const bool wide = a.is_unsigned || b.is_unsigned;
    const auto sx = static_cast<s64>(x), sy = static_cast<s64>(y);
    const bool less = wide ? x < y : sx < sy;
    if (op == "||") return made(static_cast<u64>(x != 0 || y != 0), false);
    if (op == "&&") return made(static_cast<u64>(x != 0 && y != 0), false);
    if (op == "==") return made(static_cast<u64>(x == y), false);
    if (op == "!=") return made(static_cast<u64>(x != y), false);
    if (op == "<") return made(static_cast<u64>(less), false);
    if (op == ">") return made(static_cast<u64>(!less && x != y), false);
    if (op == "<=") return made(static_cast<u64>(less || x == y), false);
    if (op == ">=") return made(static_cast<u64>(!less), false);
    if (op == "<<" || op == ">>") return shifted(op, a, y);
    return made(arithmetic(op[0], x, y, wide), wide);
  }

  static Operand floating(char op, double a, double b) {
    Operand operand;
    operand.kind = Operand::Kind::kFloat64;
    const double value = op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : a / b;
    operand.bits = std::bit_cast<u64>(value);
    return operand;
  }

  static Operand shifted(std::string_view op, const Operand& a, u64 by) {
    if (op == "<<") return made(by > 63 ? 0 : a.bits << by, a.is_unsigned);
    if (a.is_unsigned) return made(by > 63 ? 0 : a.bits >> by, true);
    return made(static_cast<u64>(static_cast<s64>(a.bits) >> (by > 63 ? 63 : by)), false);
  }

  u64 arithmetic(char op, u64 x, u64 y, bool is_unsigned) const {
    switch (op) {
      case '+':
        return x + y;
      case '-':
        return x - y;
      case '*':
        return x * y;
      case '&':
        return x & y;
      case '|':
        return x | y;
      case '^':
        return x ^ y;
      default:
        break;
    }
    if (y == 0) cursor_.fail("a division by zero");
    if (is_unsigned) return op == '/' ? x / y : x % y;
    if (y == ~u64{0}) return op == '/' ? 0 - x : 0;  // avoids overflow of INT64_MIN / -1
    const auto sx = static_cast<s64>(x), sy = static_cast<s64>(y);
    return static_cast<u64>(op == '/' ? sx / sy : sx % sy);
  }

  Cursor& cursor_;
  int depth_ = 0;
};

}  // namespace

Operand constant(Cursor& cursor) { return Evaluator(cursor).ternary(); }

bool at_constant(const Cursor& cursor) {
  const auto begins = [](const Token& token) {
    return token.kind == TokenKind::kNumber || token.text == "(" || token.text == "WARP_SZ";
  };
  if (cursor.at("!")) return begins(cursor.peek(1));
  return begins(cursor.peek()) || cursor.at("-") || cursor.at("+") || cursor.at("~");
}

std::int64_t integer_constant(Cursor& cursor) {
  const Operand value = constant(cursor);
  if (!is_integer(value)) cursor.fail("expected an integer before this,");
  return static_cast<s64>(value.bits);
}

}  // namespace kbench::ptx
