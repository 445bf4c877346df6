// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "kbench/error.hpp"
#include "ptx/parse/grammar.hpp"
#include "ptx/parse/types.hpp"

// Modules and functions.
namespace kbench::ptx {
namespace {

constexpr int kNewestVersion = 9;             // of PTX: CUDA 13
constexpr std::size_t kMaxFunctions = 16384;  // of a module
constexpr std::int64_t kMaxFiles = 100'000;
constexpr std::int64_t kMaxRegisters = 10'000'000;  // of one declaration

/// Linkage directives, which have no effect because a module is not linked with others.
bool linkage(std::string_view word) {
  static constexpr std::array kWords{".visible", ".weak", ".common"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

bool memory_directive(std::string_view word) {
  static constexpr std::array kWords{".global", ".const", ".shared", ".local", ".param"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

class Parser {
 public:
  explicit Parser(std::string_view text) : cursor_(text) {}

  ModuleText run() {
    if (!cursor_.at(".version")) throw Error("not PTX: the text does not begin with .version");
    while (!cursor_.at_end()) top_level();
    module_.rejected = cursor_.take_refused();
    return std::move(module_);
  }

 private:
  void top_level() {
    const std::string_view text = cursor_.peek().text;
    if (text == ".version") return version();
    if (text == ".target") return target();
    if (text == ".address_size") return address_size();
    if (text == ".file") return file();
    if (text == ".section") return section();
    if (text == ".entry" || text == ".func") return function();
    if (text == ".alias") return alias();
    if (text == ".loc") return cursor_.loc();
    if (text == ".pragma") return cursor_.skip_past(";");
    if (memory_directive(text) && text != ".local" && text != ".param") return module_variables();
    if (cursor_.accept(".extern")) {
      external_ = true;
    } else if (linkage(text) || text == ";") {
      cursor_.take();
    } else if (text == ".attribute") {
      attribute();
    } else if (text.starts_with(".tex") || text.starts_with(".sampler") ||
               text.starts_with(".surf")) {
      cursor_.refuse(text, "textures, samplers and surfaces are not supported");
      cursor_.skip_past(";");
    } else {
      cursor_.fail("expected a directive");
    }
  }

  void version() {
    cursor_.take();
    const std::string_view text = cursor_.peek().text;
    int major = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), major);
    if (parsed.ec != std::errc{} || text.find('.') == std::string_view::npos) {
      cursor_.fail("expected a version such as 8.0");
    }
    if (major > kNewestVersion) {
      throw Error(fmt::format("this PTX has version {}; kbench supports up to {}.x",
                              text.substr(0, 40), kNewestVersion));
    }
    cursor_.take();
  }

  void target() {
    cursor_.take();
    static constexpr std::array kModes{"texmode_unified", "texmode_independent", "debug"};
    do {
      const std::string word = cursor_.name();
      if (word == "map_f64_to_f32") {
        cursor_.refuse(word, "f64 as f32 is not supported");
      } else if (!word.starts_with("sm_") && !word.starts_with("compute_") &&
                 std::find(kModes.begin(), kModes.end(), word) == kModes.end()) {
        throw Error(fmt::format("not PTX: line {}: unknown .target {}", cursor_.peek().line,
                                word.substr(0, 40)));
      }
    } while (cursor_.accept(","));
  }

  void address_size() {
    cursor_.take();
    const std::int64_t bits = cursor_.integer();
    if (bits != 64) {
      throw Error(fmt::format("this PTX has .address_size {}; kbench supports only 64", bits));
    }
  }

  void file() {
    cursor_.take();
    const std::int64_t number = cursor_.integer();
    if (number < 0 || number > kMaxFiles) cursor_.fail("bad index of .file before this,");
    const auto index = static_cast<std::size_t>(number);
    if (module_.files.size() <= index) module_.files.resize(index + 1);
    if (cursor_.peek().kind != TokenKind::kString) cursor_.fail("expected a file's name");
    const std::string_view name = cursor_.take().text;
    module_.files[index] = std::string(name.substr(1, name.size() - 2));
    while (cursor_.accept(",")) cursor_.integer();
  }

  void section() {
    cursor_.take();
    while (!cursor_.at("{")) {
      if (!cursor_.at_word()) cursor_.fail("expected '{'");
      cursor_.take();
    }
    cursor_.skip_past("}");
  }

  void attribute() {
    cursor_.take();
    cursor_.skip_parentheses();
  }

  void alias() {
    cursor_.take();
    std::string name = cursor_.name();
    cursor_.expect(",");
    module_.aliases.emplace_back(std::move(name), cursor_.name());
    cursor_.expect(";");
  }

  void module_variables() {
    for (Variable& variable : variables(cursor_, std::exchange(external_, false))) {
      const auto [place, fresh] = variables_.try_emplace(variable.name, module_.variables.size());
      if (fresh) {
        module_.variables.push_back(std::move(variable));
      } else if (module_.variables[place->second].external) {
        module_.variables[place->second] = std::move(variable);
      } else if (!variable.external) {
        cursor_.fail(fmt::format("'{}' is defined twice before this,", variable.name));
      }
    }
  }

  std::array<std::uint32_t, 3> triple() {
    std::array<std::uint32_t, 3> value{1, 1, 1};
    std::size_t i = 0;
    do {
      if (i == 3) cursor_.fail("more than three extents");
      value[i++] = static_cast<std::uint32_t>(cursor_.integer());
    } while (cursor_.accept(","));
    return value;
  }

  void function() {
    FunctionText function;
    function.ptx_line = cursor_.peek().line;
    function.entry = cursor_.take().text == ".entry";
    external_ = false;
    function_attributes(function);
    if (cursor_.at("(")) function.returns = parameters(cursor_);
    function.name = cursor_.name();
    if (cursor_.at("(")) function.parameters = parameters(cursor_);
    cursor_.forget_location();
    function_attributes(function);
    if (!cursor_.accept(";")) {
      cursor_.expect("{");
      function.defined = true;
      names_.clear();
      for (const Variable& variable : function.parameters) unique(variable.name);
      for (const Variable& variable : function.returns) unique(variable.name);
      body(function);
    }
    add(std::move(function));
  }

  void function_attributes(FunctionText& function) {
    while (cursor_.at_directive()) {
      const std::string word = cursor_.directive();
      if (word == ".maxntid") {
        function.max_threads = triple();
      } else if (word == ".reqntid") {
        function.required_threads = triple();
      } else if (word == ".reqnctapercluster") {
        function.required_cluster = triple();
      } else if (word == ".maxclusterrank") {
        function.max_cluster = static_cast<std::uint32_t>(cursor_.integer());
      } else if (word == ".explicitcluster") {
        function.needs_cluster = true;
      } else if (word == ".attribute") {
        cursor_.skip_parentheses();
      } else if (word == ".pragma") {
        cursor_.skip_past(";");
      } else if (word == ".maxnreg" || word == ".minnctapersm" || word == ".maxnctapersm" ||
                 word == ".abi_preserve" || word == ".abi_preserve_control") {
        cursor_.integer();
      } else if (word != ".noreturn" && word != ".unique" && word != ".blocksareclusters" &&
                 !linkage(word)) {
        cursor_.fail(fmt::format("'{}' is not a function directive;", word));
      } else if (word == ".blocksareclusters") {
        cursor_.refuse(word, "grids counted in clusters are not supported");
      }
    }
  }

  /// A function may be declared repeatedly but defined only once.
  void add(FunctionText function) {
    const auto [place, fresh] = functions_.try_emplace(function.name, module_.functions.size());
    if (fresh) {
      if (module_.functions.size() >= kMaxFunctions)
        cursor_.fail("too many functions before this,");
      return module_.functions.push_back(std::move(function));
    }
    FunctionText& known = module_.functions[place->second];
    if (known.defined && function.defined) {
      cursor_.fail(fmt::format("'{}' is defined twice before this,", function.name));
    }
    if (known.entry != function.entry || known.parameters.size() != function.parameters.size() ||
        known.returns.size() != function.returns.size()) {
      cursor_.fail(fmt::format("'{}' has two different declarations before this,", function.name));
    }
    if (function.defined) known = std::move(function);
  }

  void unique(const std::string& name) {
    if (!names_.insert(name).second) {
      cursor_.fail(fmt::format("'{}' is declared twice before this,", name));
    }
  }

  void body(FunctionText& function) {
    int depth = 1;
    while (depth > 0) {
      if (cursor_.at_end()) cursor_.fail("expected '}'");
      if (cursor_.accept("{")) {
        ++depth;
        cursor_.open_scope();
      } else if (cursor_.accept("}")) {
        --depth;
        cursor_.close_scope();
      } else if (cursor_.accept(";")) {
        continue;
      } else if (cursor_.at_directive()) {
        directive(function);
      } else if (cursor_.at_name() && cursor_.peek(1).text == ":") {
        label(function);
      } else {
        function.statements.push_back(statement(cursor_));
      }
    }
  }

  void label(FunctionText& function) {
    const std::string name = cursor_.resolve(cursor_.name());
    unique(name);
    cursor_.expect(":");
    if (cursor_.accept(".branchtargets")) {
      BranchTargets targets{name, {}};
      do {
        targets.labels.push_back(cursor_.resolve(cursor_.name()));
      } while (cursor_.accept(","));
      cursor_.expect(";");
      function.branch_targets.push_back(std::move(targets));
    } else if (cursor_.accept(".callprototype")) {
      function.prototypes.push_back(prototype(name));
    } else if (cursor_.accept(".calltargets")) {
      CallTargets targets{name, {}};
      do {
        targets.functions.push_back(cursor_.name());
      } while (cursor_.accept(","));
      cursor_.expect(";");
      function.call_targets.push_back(std::move(targets));
    } else {
      function.labels.push_back({name, function.statements.size()});
    }
  }

  CallPrototype prototype(const std::string& name) {
    CallPrototype made{name, {}, {}};
    if (cursor_.at("(")) made.returns = parameters(cursor_);
    cursor_.name();
    if (cursor_.at("(")) made.parameters = parameters(cursor_);
    FunctionText ignored;
    function_attributes(ignored);
    cursor_.expect(";");
    return made;
  }

  void directive(FunctionText& function) {
    const std::string_view text = cursor_.peek().text;
    if (text == ".reg") return registers(function);
    if (text == ".loc") return cursor_.loc();
    if (text == ".pragma") return cursor_.skip_past(";");
    if (linkage(text)) {
      cursor_.take();
      return;
    }
    const bool external = cursor_.accept(".extern");
    if (!memory_directive(cursor_.peek().text)) cursor_.fail("an unknown directive");
    for (Variable& variable : variables(cursor_, external)) {
      variable.name = cursor_.declare(variable.name);
      unique(variable.name);
      function.variables.push_back(std::move(variable));
    }
  }

  void registers(FunctionText& function) {
    cursor_.take();
    std::string type = cursor_.directive().substr(1);
    if (type == "v2" || type == "v4") {
      cursor_.refuse(".reg ." + type, "vector registers are not supported");
      type = cursor_.directive().substr(1);
    }
    if (!parse_type(type)) cursor_.fail(fmt::format("'.{}' is not a register type;", type));
    do {
      RegisterDeclaration declaration{cursor_.name(), type, 0};
      if (cursor_.accept("<")) {
        const std::int64_t count = cursor_.integer();
        if (count < 1 || count > kMaxRegisters)
          cursor_.fail("a bad number of registers before this,");
        declaration.count = static_cast<unsigned>(count);
        cursor_.expect(">");
        declaration.name = cursor_.declare_range(declaration.name, declaration.count);
      } else {
        declaration.name = cursor_.declare(declaration.name);
        unique(declaration.name);
      }
      function.registers.push_back(std::move(declaration));
    } while (cursor_.accept(","));
    cursor_.expect(";");
  }

  Cursor cursor_;
  ModuleText module_;
  bool external_ = false;
  std::unordered_map<std::string, std::size_t> functions_, variables_;
  std::unordered_set<std::string> names_;  ///< of the function being parsed
};

}  // namespace

ModuleText parse(std::string_view text) { return Parser(text).run(); }

}  // namespace kbench::ptx
