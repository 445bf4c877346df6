// SPDX-License-Identifier: MIT
#include "ptx/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "ptx/decode.hpp"

namespace kbench::ptx {
namespace {

constexpr std::uint32_t kRecursionStack = 16 * 1024;  // bytes a lane has where calls may recur
constexpr std::uint64_t kMaxLocal =
    512 * std::uint64_t{1024};  // bytes a lane may have, as on the device

std::uint32_t align_up(std::uint64_t x, std::uint64_t alignment) {
  return static_cast<std::uint32_t>((x + alignment - 1) / alignment * alignment);
}

class Builder {
 public:
  explicit Builder(const ModuleText& text)
      : text_(text), layout_(lay_out_shared(text)), program_(std::make_unique<Program>()) {}

  std::unique_ptr<Program> run() {
    program_->files = text_.files;
    for (const FunctionText& function : text_.functions) {
      index_.push_back(program_->functions.size());
      if (!function.defined) continue;
      program_->functions.push_back(std::make_unique<Function>());
      Function& made = *program_->functions.back();
      made.name = function.name;
      made.entry = function.entry;
      names_.functions[function.name] = &made;
      if (!function.entry) {
        names_.symbols[function.name] = {Space::kGlobal, kFunctionWindow + index_.back(), false};
      }
    }
    const std::size_t module = text_.functions.size();
    for (std::size_t v = 0; v < text_.variables.size(); ++v) {
      names_.symbols[text_.variables[v].name] = place(text_.variables[v], module, v);
    }
    for (std::size_t f = 0; f < text_.functions.size(); ++f) {
      if (text_.functions[f].defined) prepare(f);
    }
    for (const auto& [variable, storage] : initialised_) initialise(*variable, storage);
    for (std::size_t f = 0; f < text_.functions.size(); ++f) {
      if (text_.functions[f].defined) decode(f);
    }
    for (std::size_t f = 0; f < text_.functions.size(); ++f) {
      if (text_.functions[f].entry && text_.functions[f].defined) entry_extents(f);
    }
    return std::move(program_);
  }

 private:
  Function& function(std::size_t f) { return *program_->functions[index_[f]]; }

  [[noreturn]] static void reject(const std::string& what, const std::string& why, int ptx_line) {
    throw Rejected{what, why, {ptx_line, 0, 0}};
  }

  /// A variable of the module's: global and const get storage, shared its place.
  Symbol place(const Variable& variable, std::size_t owner, std::size_t v) {
    if (variable.space == Space::kShared) {
      return {Space::kShared, layout_.offsets[owner][v], false};
    }
    if (variable.external) {
      reject(".extern " + variable.name, "variables of other modules are not there",
             variable.ptx_line);
    }
    const bool constant = variable.space == Space::kConst;
    if (variable.bytes() > (std::uint64_t{4} << 30)) {
      reject(variable.name, "the variable is too large", variable.ptx_line);
    }
    program_->globals.push_back(
        {fmt::format("{} {}", constant ? "constant" : "variable", variable.name),
         Bytes(align_up(std::max<std::uint64_t>(variable.bytes(), 1), 64)), variable.bytes(),
         constant});
    std::byte* storage = program_->globals.back().storage.data();
    std::memset(storage, 0, program_->globals.back().storage.size());
    initialised_.emplace_back(&variable, storage);
    return {variable.space, reinterpret_cast<std::uint64_t>(storage), false};
  }

  void initialise(const Variable& variable, std::byte* storage) {
    std::size_t at = 0;
    for (const Initial& initial : variable.initial) {
      std::uint64_t value = initial.bits;
      if (!initial.symbol.empty()) {
        const auto found = names_.symbols.find(initial.symbol);
        if (found == names_.symbols.end()) {
          reject(initial.symbol, "the initial value names nothing known", variable.ptx_line);
        }
        value += found->second.address;
      }
      const std::size_t bytes = std::min<std::size_t>(variable.element_bytes, 8);
      std::memcpy(storage + at, &value, bytes);
      at += variable.element_bytes;
    }
  }

  /// Names and places of one function: parameters, locals, registers.
  void prepare(std::size_t f) {
    const FunctionText& text = text_.functions[f];
    FunctionDecode& state = states_[f];
    Function& made = function(f);
    state.function = &made;
    state.text = &text;
    state.module_names = &names_;
    state.slots = &program_->slots;
    made.max_threads = text.max_threads;
    made.required_threads = text.required_threads;
    made.required_cluster = text.required_cluster;
    made.max_cluster = text.max_cluster;
    made.needs_cluster = text.needs_cluster;
    std::uint64_t local = 0, parameters = 0;
    const auto in_frame = [&](const Variable& variable) {
      local = align_up(local, std::max(variable.align, 1U));
      state.symbols[variable.name] = {Space::kLocal, local, true};
      const auto offset = static_cast<std::uint32_t>(local);
      local += variable.bytes();
      if (local > kMaxLocal) reject(text.name, "it has too much local memory", text.ptx_line);
      return ParameterSlot{offset, static_cast<std::uint32_t>(variable.bytes())};
    };
    for (const Variable& variable : text.parameters) {
      if (!text.entry) {
        made.parameters.push_back(in_frame(variable));
        continue;
      }
      parameters = align_up(parameters, variable.align);
      state.symbols[variable.name] = {Space::kParam, parameters, false};
      made.parameters.push_back(
          {static_cast<std::uint32_t>(parameters), static_cast<std::uint32_t>(variable.bytes())});
      parameters += variable.bytes();
    }
    for (const Variable& variable : text.returns) made.returns.push_back(in_frame(variable));
    for (std::size_t v = 0; v < text.variables.size(); ++v) {
      const Variable& variable = text.variables[v];
      if (variable.space == Space::kLocal || variable.space == Space::kParam) {
        in_frame(variable);
      } else {
        state.symbols[variable.name] = place(variable, f, v);
      }
    }
    made.local_bytes = align_up(local, 16);
    made.parameter_bytes = static_cast<std::uint32_t>(parameters);
    registers(text, state);
    for (const Label& label : text.labels) state.labels[label.name] = label.statement;
  }

  static void registers(const FunctionText& text, FunctionDecode& state) {
    std::uint32_t offset = 0;
    const auto add = [&](const std::string& name, Type type) {
      const unsigned bytes = std::max(size_bytes(type), 2U);
      const bool predicate = type == Type::kPred;
      const std::uint32_t size = predicate ? 4 : kLanes * bytes;
      offset = align_up(offset, predicate ? 4 : 64);
      if (offset > (1U << 30)) reject(text.name, "it has too many registers", text.ptx_line);
      state.registers[name] = {offset, bytes, predicate};
      offset += size;
    };
    add("%cc", Type::kPred);
    const auto used = used_registers(text);
    for (const RegisterDeclaration& declaration : text.registers) {
      const auto type = parse_type(declaration.type);
      if (!type) {
        reject(".reg ." + declaration.type, "registers of this type are not supported",
               text.ptx_line);
      }
      if (declaration.count == 0) {
        if (used.count(declaration.name) != 0) add(declaration.name, *type);
        continue;
      }
      for (unsigned i = 0; i < declaration.count; ++i) {
        const std::string name = fmt::format("{}{}", declaration.name, i);
        if (used.count(name) != 0) add(name, *type);
      }
    }
    state.function->register_bytes = align_up(offset, 64);
  }

  static void collect(const Operand& operand, std::unordered_set<std::string>& names) {
    names.insert(operand.name);
    names.insert(operand.name.substr(0, operand.name.find('.', 1)));  // "%r1.h0" of video
    names.insert(operand.second);
    for (const Operand& item : operand.items) collect(item, names);
  }

  static std::unordered_set<std::string> used_registers(const FunctionText& text) {
    std::unordered_set<std::string> names;
    for (const Statement& statement : text.statements) {
      names.insert(statement.guard);
      for (const Operand& operand : statement.operands) collect(operand, names);
    }
    return names;
  }

  void decode(std::size_t f) {
    const FunctionText& text = text_.functions[f];
    FunctionDecode& state = states_[f];
    Function& made = function(f);
    std::vector<std::vector<std::size_t>> targets;
    std::vector<bool> tables;
    const auto add = [&](const Statement& statement) {
      Decode decoder(state, statement);
      try {
        made.code.push_back(decoder.run());
      } catch (Rejected& rejected) {
        if (rejected.position.ptx_line == 0) rejected.position = statement.position;
        throw;
      }
      made.positions.push_back(statement.position);
      made.texts.push_back(statement.text());
      targets.push_back(std::move(decoder.targets));
      tables.push_back(decoder.table);
    };
    for (const Statement& statement : text.statements) add(statement);
    // The code may run off its end, or jump there.
    Statement end;
    end.opcode = "ret";
    end.position = text.statements.empty() ? Position{} : text.statements.back().position;
    add(end);
    made.constants = state.constants.finish();
    std::vector<Loop> loops;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      for (const std::size_t target : targets[i]) {
        if (target <= i) loops.push_back({target, i});
      }
      if (targets[i].empty()) continue;
      if (!tables[i]) {
        made.code[i].target = &made.code[targets[i][0]];
        continue;
      }
      auto table = std::make_unique<std::vector<const Instr*>>();
      for (const std::size_t target : targets[i]) table->push_back(&made.code[target]);
      made.code[i].object = table.get();
      made.tables.push_back(std::move(table));
    }
    give_shape_records(state, loops);
  }

  std::uint64_t stack_below(std::size_t f, unsigned depth) {
    if (depth > text_.functions.size()) return 0;
    std::uint64_t most = 0;
    for (const std::size_t g : layout_.calls[f]) {
      if (!text_.functions[g].defined) continue;
      most = std::max(most, function(g).local_bytes + stack_below(g, depth + 1));
    }
    return most;
  }

  void entry_extents(std::size_t f) {
    Function& made = function(f);
    std::vector<std::size_t> stack{f};
    std::vector<bool> seen(text_.functions.size(), false);
    bool recursive = false;
    while (!stack.empty()) {
      const std::size_t at = stack.back();
      stack.pop_back();
      if (seen[at]) continue;
      seen[at] = true;
      recursive = recursive || layout_.recursive[at];
      stack.insert(stack.end(), layout_.calls[at].begin(), layout_.calls[at].end());
    }
    const std::uint64_t below = recursive ? kRecursionStack : stack_below(f, 0);
    made.local_stack = align_up(std::min(made.local_bytes + below, kMaxLocal), 16);
    made.shared_bytes = layout_.dynamic_begin[f];
    made.static_shared_bytes = layout_.static_bytes[f];
  }

  const ModuleText& text_;
  SharedLayout layout_;
  std::unique_ptr<Program> program_;
  Names names_;
  std::vector<std::size_t> index_;
  std::unordered_map<std::size_t, FunctionDecode> states_;
  std::vector<std::pair<const Variable*, std::byte*>> initialised_;
};

}  // namespace

std::unique_ptr<Program> build(const ModuleText& text) { return Builder(text).run(); }

}  // namespace kbench::ptx
