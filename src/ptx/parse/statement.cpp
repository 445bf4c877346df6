// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "ptx/parse/grammar.hpp"

// Instructions and their operands.
namespace kbench::ptx {
namespace {

constexpr std::size_t kMaxModifiers = 32;   // the longest instruction has about half of it
constexpr std::size_t kMaxOperands = 1024;  // of a statement or a list

class Reader {
 public:
  explicit Reader(Cursor& cursor) : cursor_(cursor) {}

  Statement run() {
    Statement result;
    result.position = cursor_.position();
    if (cursor_.accept("@")) {
      result.guard_negated = cursor_.accept("!");
      result.guard = cursor_.resolve(cursor_.name());
    }
    opcode(result);
    calls_ = result.opcode == "call";
    if (!cursor_.at(";")) result.operands = list(";");
    cursor_.expect(";");
    return result;
  }

 private:
  void opcode(Statement& result) {
    if (!cursor_.at_name()) cursor_.fail("expected an instruction");
    std::string_view word = cursor_.take().text;
    for (std::size_t dot = 0; dot != std::string_view::npos; word.remove_prefix(dot + 1)) {
      dot = word.find('.');
      const std::string part(word.substr(0, dot));
      if (result.opcode.empty()) {
        result.opcode = part;
      } else {
        result.modifiers.push_back(part);
      }
      if (dot == std::string_view::npos) break;
    }
    if (result.modifiers.size() > kMaxModifiers)
      cursor_.fail("an instruction with too many modifiers before this,");
  }

  /// Operands separated by commas, up to `close`, which is not consumed.
  std::vector<Operand> list(std::string_view close) {
    if (++depth_ > kMaxNesting) cursor_.fail("operands nested too deeply");
    std::vector<Operand> items;
    do {
      items.push_back(operand());
      if (items.size() > kMaxOperands) cursor_.fail("too many operands");
    } while (cursor_.accept(","));
    if (!cursor_.at(close)) cursor_.fail(fmt::format("expected ',' or '{}'", close));
    --depth_;
    return items;
  }

  Operand operand() {
    if (cursor_.accept("{")) return vector("}");
    if (calls_ && cursor_.accept("(")) return vector(")");
    if (cursor_.accept("[")) return address();
    if (at_constant(cursor_)) return constant(cursor_);
    Operand result;
    result.negated = cursor_.accept("!");
    result.name = cursor_.resolve(cursor_.name());
    if (result.name == "_") result.kind = Operand::Kind::kSink;
    if (cursor_.accept("|")) result.second = cursor_.resolve(cursor_.name());
    result.offset = displacement();
    if (cursor_.accept("[")) {
      integer_constant(cursor_);
      cursor_.expect("]");
      cursor_.refuse(result.name + "[…]", "elements of arrays as operands are not supported");
    }
    return result;
  }

  Operand vector(std::string_view close) {
    Operand result;
    result.kind = Operand::Kind::kVector;
    if (!cursor_.at(close)) result.items = list(close);
    cursor_.expect(close);
    return result;
  }

  std::int64_t displacement() {
    if (!cursor_.at("+") && !cursor_.at("-")) return 0;
    return integer_constant(cursor_);
  }

  Operand address() {
    Operand result;
    result.kind = Operand::Kind::kAddress;
    if (at_constant(cursor_)) {
      result.offset = integer_constant(cursor_);
    } else {
      result.name = cursor_.resolve(cursor_.name());
      result.offset = displacement();
    }
    if (cursor_.accept(",")) result.items = list("]");
    cursor_.expect("]");
    return result;
  }

  Cursor& cursor_;
  bool calls_ = false;
  int depth_ = 0;
};

}  // namespace

Statement statement(Cursor& cursor) { return Reader(cursor).run(); }

std::string Statement::text() const {
  std::string text = opcode;
  for (const auto& modifier : modifiers) text += "." + modifier;
  return text;
}

}  // namespace kbench::ptx
