// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ptx/parse/grammar.hpp"
#include "ptx/parse/types.hpp"

// Declarations of variables and parameters, with initial values.
namespace kbench::ptx {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 40;  // of one variable
constexpr std::uint64_t kMaxAlign = std::uint64_t{1} << 20;
constexpr std::size_t kMaxParameters = 4096;

Space space_of(std::string_view directive) {
  if (directive == ".shared") return Space::kShared;
  if (directive == ".local") return Space::kLocal;
  if (directive == ".const") return Space::kConst;
  if (directive == ".param") return Space::kParam;
  return Space::kGlobal;
}

/// Bits of a literal for an element. Integers of either sign may initialize integers; only floats
/// may initialize floats.
std::uint64_t literal(const Cursor& cursor, const Operand& value, const std::optional<Type>& type) {
  const bool floats = type && (*type == Type::kF32 || *type == Type::kF64);
  if (floats != (value.kind != Operand::Kind::kInteger)) {
    cursor.fail("the initial value and the variable differ in type before this,");
  }
  if (!floats || (value.kind == Operand::Kind::kFloat64) == (*type == Type::kF64)) {
    return value.bits;
  }
  if (*type == Type::kF32) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(value.bits)));
  }
  const auto narrow = std::bit_cast<float>(static_cast<std::uint32_t>(value.bits));
  return std::bit_cast<std::uint64_t>(static_cast<double>(narrow));
}

class Declaration {
 public:
  explicit Declaration(Cursor& cursor) : cursor_(cursor) {}

  /// Parses state space, alignment and type, which apply to all names of a declaration.
  void prefix(bool external) {
    shared_ = Variable{};
    shared_.ptx_line = cursor_.peek().line;
    shared_.external = external;
    shared_.space = space_of(cursor_.directive());
    while (cursor_.at_directive()) attribute(cursor_.directive());
    if (!typed_) cursor_.fail("expected a type");
    shared_.element_bytes = shared_.scalar_bytes * vector_;
  }

  Variable next() {
    Variable variable = shared_;
    variable.name = cursor_.name();
    extents(variable);
    if (variable.align == 0) variable.align = variable.element_bytes;
    if (cursor_.accept("=")) {
      if (vector_ > 1) extents_.push_back(vector_);
      initial(variable, 0, 0);
      const bool open = !extents_.empty() && extents_[0] == 0;
      if (open) variable.count = outermost_ * below(0) / vector_;
    }
    return variable;
  }

 private:
  void attribute(const std::string& text) {
    if (text == ".align") {
      const std::int64_t align = cursor_.integer();
      if (align <= 0 || static_cast<std::uint64_t>(align) > kMaxAlign ||
          !std::has_single_bit(static_cast<std::uint64_t>(align))) {
        cursor_.fail("an alignment that is not a power of two before this,");
      }
      shared_.align = static_cast<unsigned>(align);
    } else if (text == ".v2" || text == ".v4" || text == ".v8") {
      vector_ = static_cast<unsigned>(text[2] - '0');
    } else if (text == ".ptr") {
      while (cursor_.accept(".global") || cursor_.accept(".shared") || cursor_.accept(".const") ||
             cursor_.accept(".local")) {
      }
      if (cursor_.accept(".align")) cursor_.integer();
    } else if (text == ".attribute") {
      cursor_.skip_parentheses();  // .managed, .unified: no effect, as all memory is the host's
    } else if (text == ".texref" || text == ".samplerref" || text == ".surfref") {
      cursor_.refuse(text, "textures, samplers and surfaces are not supported");
      shared_.scalar_bytes = 8;
      typed_ = true;
    } else {
      type(text);
    }
  }

  void type(const std::string& text) {
    type_ = parse_type(text.substr(1));
    if (!type_ || *type_ == Type::kPred) {
      cursor_.fail(fmt::format("'{}' is not a variable type;", text));
    }
    shared_.type = *type_;
    shared_.scalar_bytes = size_bytes(*type_);
    typed_ = true;
  }

  void extents(Variable& variable) {
    extents_.clear();
    outermost_ = 0;
    while (cursor_.accept("[")) {
      if (cursor_.accept("]")) {
        if (!extents_.empty()) cursor_.fail("only the first extent may be empty before this,");
        extents_.push_back(0);
        continue;
      }
      const auto extent = static_cast<std::uint64_t>(integer_constant(cursor_));
      const std::uint64_t so_far =
          std::max<std::uint64_t>(variable.count * variable.element_bytes, 1);
      if (extent > kMaxBytes / so_far) cursor_.fail("the array is too large before this,");
      if (extents_.size() >= kMaxNesting) cursor_.fail("too many extents before this,");
      variable.count *= extent;
      extents_.push_back(extent);
      cursor_.expect("]");
    }
    if (!extents_.empty() && extents_[0] == 0) variable.count = 0;
  }

  /// Number of scalars in an element of the given brace level.
  std::uint64_t below(std::size_t level) const {
    std::uint64_t product = 1;
    for (std::size_t i = level + 1; i < extents_.size(); ++i) product *= extents_[i];
    return product;
  }

  void initial(Variable& variable, std::size_t level, std::uint64_t index) {
    if (level == extents_.size()) return value(variable, index);
    const bool open = level == 0 && extents_[0] == 0;
    cursor_.expect("{");
    std::uint64_t count = 0;
    while (!cursor_.at("}")) {
      if (!open && count == extents_[level]) cursor_.fail("too many initial values");
      initial(variable, level + 1, index + count++ * below(level));
      if (!cursor_.accept(",")) break;
    }
    cursor_.expect("}");
    if (level == 0) outermost_ = count;
  }

  void value(Variable& variable, std::uint64_t index) {
    Initial made;
    made.at = index * variable.scalar_bytes;
    if (cursor_.peek().kind == TokenKind::kNumber && cursor_.peek(1).text == "(") {
      made.mask = parse_number(cursor_.take()).bits;
      if (made.mask == 0) cursor_.fail("an empty mask before this,");
      cursor_.expect("(");
      symbol(made);
      cursor_.expect(")");
    } else if (at_constant(cursor_)) {
      made.bits = literal(cursor_, constant(cursor_), type_);
    } else {
      symbol(made);
    }
    variable.initial.push_back(std::move(made));
  }

  void symbol(Initial& made) {
    made.symbol = cursor_.name();
    if (made.symbol == "generic" && cursor_.accept("(")) {
      made.symbol = cursor_.name();
      cursor_.expect(")");
    }
    if (cursor_.at("+") || cursor_.at("-")) {
      made.bits = static_cast<std::uint64_t>(integer_constant(cursor_));
    }
  }

  Cursor& cursor_;
  Variable shared_;
  std::optional<Type> type_;
  bool typed_ = false;
  unsigned vector_ = 1;
  std::vector<std::uint64_t> extents_;
  std::uint64_t outermost_ = 0;  ///< number of values in the outermost braces
};

}  // namespace

std::vector<Variable> variables(Cursor& cursor, bool external) {
  Declaration declaration(cursor);
  declaration.prefix(external);
  std::vector<Variable> list;
  do {
    list.push_back(declaration.next());
  } while (cursor.accept(","));
  cursor.expect(";");
  return list;
}

std::vector<Variable> parameters(Cursor& cursor) {
  std::vector<Variable> list;
  cursor.expect("(");
  if (cursor.accept(")")) return list;
  do {
    if (list.size() >= kMaxParameters) cursor.fail("too many parameters");
    if (!cursor.at(".param") && !cursor.at(".reg")) cursor.fail("expected .param");
    Declaration declaration(cursor);
    const bool in_register = cursor.at(".reg");
    declaration.prefix(false);
    list.push_back(declaration.next());
    list.back().space = Space::kParam;
    list.back().in_register = in_register;
  } while (cursor.accept(","));
  cursor.expect(")");
  return list;
}

}  // namespace kbench::ptx
