// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "kbench/error.hpp"
#include "ptx/cursor.hpp"
#include "ptx/types.hpp"

namespace kbench::ptx {
namespace {

std::vector<std::string> split_dots(std::string_view word) {
  std::vector<std::string> parts;
  while (!word.empty()) {
    if (word.front() == '.') word.remove_prefix(1);
    const std::size_t dot = word.find('.');
    parts.emplace_back(word.substr(0, dot));
    if (dot == std::string_view::npos) break;
    word.remove_prefix(dot);
  }
  return parts;
}

bool ignored_directive(std::string_view word) {
  static constexpr std::array kIgnored{".visible", ".weak",    ".common",       ".noreturn",
                                       ".pragma",  ".maxnreg", ".minnctapersm", ".maxnctapersm"};
  return std::find(kIgnored.begin(), kIgnored.end(), word) != kIgnored.end();
}

class Parser : private Cursor {
 public:
  using Cursor::Cursor;

  ModuleText run() {
    if (peek().text != ".version") {
      throw Error("not PTX: the text does not begin with .version");
    }
    while (peek().kind != TokenKind::kEnd) top_level();
    return std::move(module_);
  }

 private:
  [[noreturn]] void reject(std::string_view what, const std::string& why) const {
    throw Rejected{std::string(what), why, position()};
  }

  void top_level() {
    const std::string_view text = peek().text;
    if (text == ".version" || text == ".target" || text == ".address_size") return header();
    if (text == ".file") return file();
    if (text == ".section") return section();
    if (text == ".entry" || text == ".func") return function();
    if (text == ".global" || text == ".const" || text == ".shared") {
      return variables(module_.variables);
    }
    if (text == ".extern") {
      take();
      external_ = true;
      return;
    }
    if (text == ".loc") return loc();
    if (text == ".alias") reject(".alias", "aliases of functions are not supported");
    if (!ignored_directive(text) && text != ";") fail("expected a directive");
    take();
    if (text == ".pragma") {
      while (!accept(";")) take_within("';'");
    }
  }

  void header() {
    const std::string name = word();
    if (name == ".version" && integer_part(take().text) > 9) {
      throw Error("this PTX is of a newer version than 9.x, which is the newest that is known");
    }
    if (name == ".address_size" && integer() != 64) throw Error("only 64-bit PTX can be run");
    if (name == ".target") {
      do {
        word();
      } while (accept(","));
    }
  }

  static int integer_part(std::string_view text) {
    return std::atoi(std::string(text.substr(0, text.find('.'))).c_str());
  }

  void file() {
    take();
    const auto index = static_cast<std::size_t>(integer());
    if (index > 100000) fail("bad index of .file");
    if (module_.files.size() <= index) module_.files.resize(index + 1);
    std::string_view name = take().text;
    if (name.size() >= 2) name = name.substr(1, name.size() - 2);
    module_.files[index] = std::string(name);
    while (accept(",")) take();
  }

  void section() {
    take();
    word();
    expect("{");
    while (!accept("}")) take_within("'}'");
  }

  static Space space_of(std::string_view directive) {
    if (directive == ".shared") return Space::kShared;
    if (directive == ".local") return Space::kLocal;
    if (directive == ".const") return Space::kConst;
    if (directive == ".param") return Space::kParam;
    return Space::kGlobal;
  }

  Variable variable_prefix() {
    Variable variable;
    variable.ptx_line = peek().line;
    variable.external = std::exchange(external_, false);
    variable.space = space_of(word());
    unsigned vector = 1;
    while (peek().kind == TokenKind::kWord && peek().text[0] == '.') {
      const std::string attribute = word();
      if (attribute == ".align") {
        variable.align = static_cast<unsigned>(integer());
      } else if (attribute == ".v2" || attribute == ".v4") {
        vector = attribute == ".v2" ? 2 : 4;
      } else if (attribute == ".ptr") {
        while (peek().text == ".global" || peek().text == ".shared" || peek().text == ".const" ||
               peek().text == ".local") {
          take();
        }
        if (accept(".align")) integer();
      } else if (attribute == ".attribute") {
        reject(attribute, "variables with attributes are not supported");
      } else if (const auto type = parse_type(attribute.substr(1))) {
        variable.element_bytes = size_bytes(*type) * vector;
      } else {
        reject(attribute, "opaque types (textures, samplers, surfaces) are not supported");
      }
    }
    return variable;
  }

  void variable_name(Variable& variable) {
    variable.name = word();
    while (accept("[")) {
      if (accept("]")) {
        variable.count = 0;
        continue;
      }
      const auto extent = static_cast<std::uint64_t>(integer());
      if (extent > (1ULL << 40) / std::max<std::uint64_t>(variable.bytes(), 1)) fail("huge array");
      variable.count *= extent;
      expect("]");
    }
    if (variable.align == 0) variable.align = variable.element_bytes;
    if (!std::has_single_bit(variable.align)) fail("alignment is no power of two");
    if (accept("=")) {
      initializer(variable);
      if (variable.count == 0) variable.count = variable.initial.size();
      if (variable.initial.size() > variable.count) fail("too many initial values");
    }
  }

  void initializer(Variable& variable) {
    if (accept("{")) {
      if (accept("}")) return;
      do {
        initializer(variable);
      } while (accept(","));
      expect("}");
      return;
    }
    Initial initial;
    const bool negative = accept("-");
    if (peek().kind == TokenKind::kNumber) {
      const Operand number = parse_number(take());
      initial.bits = negative ? 0 - number.bits : number.bits;
    } else {
      initial.symbol = word();
      if (initial.symbol == "generic") {
        expect("(");
        initial.symbol = word();
        expect(")");
      }
      if (accept("+")) initial.bits = static_cast<std::uint64_t>(integer());
    }
    variable.initial.push_back(std::move(initial));
  }

  void variables(std::vector<Variable>& into) {
    const Variable prefix = variable_prefix();
    do {
      Variable variable = prefix;
      variable_name(variable);
      into.push_back(std::move(variable));
    } while (accept(","));
    expect(";");
  }

  std::vector<Variable> parameters() {
    std::vector<Variable> list;
    expect("(");
    if (accept(")")) return list;
    do {
      list.push_back(variable_prefix());
      variable_name(list.back());
    } while (accept(","));
    expect(")");
    return list;
  }

  std::array<std::uint32_t, 3> triple() {
    std::array<std::uint32_t, 3> value{1, 1, 1};
    std::size_t i = 0;
    do {
      if (i == 3) fail("more than three extents");
      value[i++] = static_cast<std::uint32_t>(integer());
    } while (accept(","));
    return value;
  }

  void function() {
    FunctionText function;
    function.ptx_line = peek().line;
    function.entry = take().text == ".entry";
    if (peek().text == "(") function.returns = parameters();
    function.name = word();
    if (peek().text == "(") function.parameters = parameters();
    external_ = false;
    forget_location();
    while (peek().text != "{" && peek().text != ";") {
      const std::string directive = word();
      if (directive == ".maxntid") {
        function.max_threads = triple();
      } else if (directive == ".reqntid") {
        function.required_threads = triple();
      } else if (directive == ".reqnctapercluster") {
        function.required_cluster = triple();
      } else if (directive == ".maxclusterrank") {
        function.max_cluster = static_cast<std::uint32_t>(integer());
      } else if (directive == ".explicitcluster") {
        function.needs_cluster = true;
      } else if (directive != ".noreturn" && directive != ".unique" && directive != ".weak") {
        integer();
      }
    }
    if (!accept(";")) {
      function.defined = true;
      take();
      body(function);
    }
    module_.functions.push_back(std::move(function));
  }

  void body(FunctionText& function) {
    int depth = 1;
    while (depth > 0) {
      const Token& token = peek();
      if (token.kind == TokenKind::kEnd) fail("expected '}'");
      if (token.text == "{") {
        ++depth;
        take();
        open_scope();
      } else if (token.text == "}") {
        --depth;
        take();
        close_scope();
      } else if (token.text == ";") {
        take();
      } else if (token.kind == TokenKind::kWord && token.text[0] == '.') {
        directive(function);
      } else if (token.kind == TokenKind::kWord && peek(1).text == ":") {
        label(function);
      } else {
        function.statements.push_back(statement());
      }
    }
  }

  void label(FunctionText& function) {
    const std::string name = resolve(word());
    expect(":");
    if (accept(".branchtargets")) {
      BranchTargets targets{name, {}};
      do {
        targets.labels.push_back(resolve(word()));
      } while (accept(","));
      expect(";");
      function.branch_targets.push_back(std::move(targets));
    } else if (peek().text == ".callprototype") {
      while (!accept(";")) take_within("';'");
    } else {
      function.labels.push_back({name, function.statements.size()});
    }
  }

  void directive(FunctionText& function) {
    const std::string_view text = peek().text;
    if (text == ".reg") return registers(function);
    if (text == ".loc") return loc();
    if (text == ".shared" || text == ".local" || text == ".param" || text == ".global" ||
        text == ".const") {
      const std::size_t before = function.variables.size();
      variables(function.variables);
      for (std::size_t i = before; i < function.variables.size(); ++i) {
        function.variables[i].name = declare(function.variables[i].name);
      }
      return;
    }
    if (text != ".pragma") reject(text, "this directive is not supported");
    while (!accept(";")) take_within("';'");
  }

  void registers(FunctionText& function) {
    take();
    std::string type = word().substr(1);
    if (type == "v2" || type == "v4") reject(".reg ." + type, "vector registers are not supported");
    do {
      RegisterDeclaration declaration{word(), type, 0};
      if (accept("<")) {
        declaration.count = static_cast<unsigned>(integer());
        if (declaration.count > 10'000'000) fail("too many registers");
        expect(">");
      }
      if (declaration.count == 0) {
        declaration.name = declare(declaration.name);
        function.registers.push_back(std::move(declaration));
      } else if (!in_scope()) {
        function.registers.push_back(std::move(declaration));
      } else {
        for (unsigned i = 0; i < declaration.count; ++i) {
          function.registers.push_back(
              {declare(fmt::format("{}{}", declaration.name, i)), type, 0});
        }
      }
    } while (accept(","));
    expect(";");
  }

  Statement statement() {
    Statement result;
    result.position = position();
    if (accept("@")) {
      result.guard_negated = accept("!");
      result.guard = resolve(word());
    }
    instruction_ = word();
    auto parts = split_dots(instruction_);
    result.opcode = std::move(parts.front());
    parts.erase(parts.begin());
    result.modifiers = std::move(parts);
    if (accept(";")) return result;
    do {
      result.operands.push_back(operand());
    } while (accept(","));
    expect(";");
    return result;
  }

  Operand operand() {
    Operand result;
    if (accept("{")) return list("}");
    if (accept("(")) return list(")");
    if (accept("[")) return address();
    if (accept("-")) {
      result = parse_number(take());
      result.bits = 0 - result.bits;
      return result;
    }
    if (peek().kind == TokenKind::kNumber) return parse_number(take());
    result.negated = accept("!");
    result.name = resolve(word());
    if (result.name == "_") result.kind = Operand::Kind::kSink;
    if (accept("|")) result.second = resolve(word());
    if (accept("+")) result.offset = integer();
    return result;
  }

  Operand list(std::string_view close) {
    Operand result;
    result.kind = Operand::Kind::kVector;
    if (accept(close)) return result;
    do {
      result.items.push_back(operand());
    } while (accept(","));
    expect(close);
    return result;
  }

  Operand address() {
    Operand result;
    result.kind = Operand::Kind::kAddress;
    if (peek().kind == TokenKind::kWord) {
      result.name = resolve(word());
    } else {
      result.offset = integer();
    }
    if (accept("+")) result.offset += integer();
    if (accept(",")) reject(instruction_, "addresses of tensors and textures are not supported");
    expect("]");
    return result;
  }

  ModuleText module_;
  std::string instruction_;  ///< being read
  bool external_ = false;
};

}  // namespace

std::string Statement::text() const {
  std::string text = opcode;
  for (const auto& modifier : modifiers) text += "." + modifier;
  return text;
}

ModuleText parse(std::string_view text) { return Parser(text).run(); }

}  // namespace kbench::ptx
