// SPDX-License-Identifier: MIT
#include "ptx/machine/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/machine/decode.hpp"
#include "ptx/machine/heap.hpp"
#include "ptx/machine/joins.hpp"
#include "ptx/machine/refused.hpp"
#include "ptx/machine/register_names.hpp"

namespace kbench::ptx {
namespace {

constexpr std::uint32_t kRecursionStack = 16 * 1024;  // stack bytes per lane if calls may recurse
constexpr std::uint32_t kCallBytes = 16;         // least stack of a call, so that recursion ends
constexpr std::uint64_t kMaxParameters = 32764;  // bytes; the device's limit
constexpr std::uint64_t kMaxGlobal = std::uint64_t{4} << 30;  // bytes of a module's variables
constexpr std::uint64_t kMaxLocal =
    512 * std::uint64_t{1024};  // bytes per lane; the device's limit

std::uint32_t align_up(std::uint64_t x, std::uint64_t alignment) {
  return static_cast<std::uint32_t>((x + alignment - 1) / alignment * alignment);
}

class Builder {
 public:
  Builder(const ModuleText& text, Refuse refuse)
      : text_(text),
        refuse_(refuse),
        layout_(lay_out_shared(text)),
        program_(std::make_unique<Program>()) {}

  std::unique_ptr<Program> run() {
    program_->files = text_.files;
    if (calls_malloc()) program_->heap = std::make_shared<DeviceHeap>();
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
    aliases();
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

  bool calls_malloc() const {
    return std::any_of(text_.functions.begin(), text_.functions.end(), [](const auto& function) {
      return function.name == "malloc" && !function.defined;
    });
  }

  void aliases() {
    for (const auto& [name, target] : text_.aliases) {
      const auto found = names_.functions.find(target);
      if (found == names_.functions.end())
        reject(".alias", target + " is not defined in this module", 0);
      names_.functions.try_emplace(name, found->second);
      if (const auto symbol = names_.symbols.find(target); symbol != names_.symbols.end()) {
        names_.symbols.try_emplace(name, symbol->second);
      }
    }
  }

  /// Zeroed storage for a variable. It does not share pages, so that the caller of launch() can
  /// protect it.
  static Bytes own_pages(const Variable& variable) {
    constexpr unsigned kPage = 4096;
    return Bytes::zeros(std::max<std::uint64_t>((variable.bytes() + kPage - 1) / kPage, 1) * kPage,
                        std::max(variable.align, kPage));
  }

  /// Places a module variable: global and const get storage, shared gets its offset in the layout.
  Symbol place(const Variable& variable, std::size_t owner, std::size_t v) {
    if (variable.space == Space::kShared) {
      return {Space::kShared, layout_.offsets[owner][v], false, variable.bytes()};
    }
    if (variable.external) {
      reject(".extern " + variable.name, "variables of other modules are not supported",
             variable.ptx_line);
    }
    const bool constant = variable.space == Space::kConst;
    global_bytes_ += variable.bytes();
    if (global_bytes_ > kMaxGlobal) {
      reject(variable.name, "the module's variables are too large", variable.ptx_line);
    }
    program_->globals.push_back({fmt::format("{} {}", constant ? "constant" : "variable",
                                             variable.name.substr(0, variable.name.find('#'))),
                                 own_pages(variable), variable.bytes(), constant});
    std::byte* storage = program_->globals.back().storage.data();
    initialised_.emplace_back(&variable, storage);
    return {variable.space, reinterpret_cast<std::uint64_t>(storage), false, variable.bytes()};
  }

  void initialise(const Variable& variable, std::byte* storage) {
    for (const Initial& initial : variable.initial) {
      std::uint64_t value = initial.bits;
      if (!initial.symbol.empty()) {
        const auto found = names_.symbols.find(initial.symbol);
        if (found == names_.symbols.end() || found->second.space == Space::kShared) {
          reject(initial.symbol, "the initial value is not a known address", variable.ptx_line);
        }
        value += found->second.address;
      }
      value = (value & initial.mask) >> std::countr_zero(initial.mask);
      std::memcpy(storage + initial.at, &value, std::min<std::size_t>(variable.scalar_bytes, 8));
    }
  }

  /// Collects names and places of one function: parameters, locals, registers.
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
    place_variables(f, state);
    registers(text, state);
    for (const Label& label : text.labels) state.labels[label.name] = label.statement;
    for (const BranchTargets& table : text.branch_targets) {
      state.branch_targets[table.name] = &table;
    }
    for (const CallPrototype& prototype : text.prototypes) {
      state.prototypes[prototype.name] = &prototype;
    }
    for (const CallTargets& targets : text.call_targets) {
      state.call_targets[targets.name] = &targets;
    }
  }

  /// Assigns offsets to parameters, results and local variables; allocates storage for the others.
  void place_variables(std::size_t f, FunctionDecode& state) {
    const FunctionText& text = text_.functions[f];
    Function& made = *state.function;
    std::uint64_t local = 0, parameters = 0;
    const auto in_frame = [&](const Variable& variable) {
      if (variable.in_register) return ParameterSlot{0, variable.element_bytes, true};
      local = align_up(local, std::max(variable.align, 1U));
      state.symbols[variable.name] = {Space::kLocal, local, true, variable.bytes()};
      const auto offset = static_cast<std::uint32_t>(local);
      local += std::min(variable.bytes(), kMaxLocal + 1);
      if (local > kMaxLocal)
        reject(text.name, "the function has too much local memory", text.ptx_line);
      return ParameterSlot{offset, static_cast<std::uint32_t>(variable.bytes())};
    };
    for (const Variable& variable : text.parameters) {
      if (!text.entry) {
        made.parameters.push_back(in_frame(variable));
        continue;
      }
      parameters = align_up(parameters, variable.align);
      state.symbols[variable.name] = {Space::kParam, parameters, false, variable.bytes()};
      made.parameters.push_back(
          {static_cast<std::uint32_t>(parameters), static_cast<std::uint32_t>(variable.bytes())});
      parameters += std::min(variable.bytes(), kMaxParameters + 1);
      if (parameters > kMaxParameters || variable.in_register) {
        reject(variable.name, "the kernel's parameters are too large or in registers",
               variable.ptx_line);
      }
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
    made.local_bytes = align_up(std::max<std::uint64_t>(local, text.entry ? 0 : kCallBytes), 16);
    made.parameter_bytes = static_cast<std::uint32_t>(parameters);
  }

  static void registers(const FunctionText& text, FunctionDecode& state) {
    std::uint32_t offset = 0;
    const auto add = [&](const std::string& name, Type type) {
      const unsigned bytes = std::max(size_bytes(type), 2U);
      const bool predicate = type == Type::kPred;
      const std::uint32_t size = predicate ? 4 : kLanes * bytes;
      offset = align_up(offset, predicate ? 4 : 64);
      if (offset > (1U << 30))
        reject(text.name, "the function has too many registers", text.ptx_line);
      state.registers[name] = {offset, bytes, predicate};
      offset += size;
      return offset - size;
    };
    add("%cc", Type::kPred);
    Function& made = *state.function;
    const RegisterNames names(text);
    const auto slots = [&](const std::vector<Variable>& variables, auto& into) {
      for (std::size_t k = 0; k < variables.size(); ++k) {
        if (variables[k].in_register) into[k].offset = add(variables[k].name, variables[k].type);
      }
    };
    slots(text.parameters, made.parameters);
    slots(text.returns, made.returns);
    for (const std::string& name : names.used) {
      if (state.registers.count(name) != 0) continue;
      if (const auto type = names.type_of(name)) add(name, *type);
    }
    made.register_bytes = align_up(offset, 64);
  }

  void decode(std::size_t f) {
    const FunctionText& text = text_.functions[f];
    FunctionDecode& state = states_[f];
    Function& made = function(f);
    std::vector<std::optional<std::size_t>> targets;
    std::vector<const BranchTargets*> tables;
    const auto add = [&](const Statement& statement) {
      Decode decoder(state, statement);
      made.positions.push_back(statement.position);
      made.texts.push_back(statement.text());
      try {
        made.code.push_back(decoder.run());
      } catch (Rejected& rejected) {
        if (rejected.position.ptx_line == 0) rejected.position = statement.position;
        if (refuse_ == Refuse::kSeen) throw;
        made.code.push_back(refused_instruction(state, statement, rejected));
        targets.emplace_back();
        tables.push_back(nullptr);
        return;
      }
      targets.push_back(decoder.target);
      tables.push_back(decoder.table);
    };
    for (const Statement& statement : text.statements) add(statement);
    // Control may reach the end of the code, or jump there.
    Statement end;
    end.opcode = "ret";
    end.position = text.statements.empty() ? Position{} : text.statements.back().position;
    add(end);
    made.constants = state.constants.finish();
    std::unordered_map<const BranchTargets*, const std::vector<const Instr*>*> made_tables;
    std::vector<Loop> loops;
    const auto goes_to = [&](std::size_t from, std::size_t to) {
      if (to <= from) loops.push_back({to, from});
    };
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (targets[i]) {
        made.code[i].target = &made.code[*targets[i]];
        goes_to(i, *targets[i]);
      }
      if (tables[i] == nullptr) continue;
      const auto [entry, fresh] = made_tables.try_emplace(tables[i], nullptr);
      if (fresh) entry->second = table(state, *tables[i]);
      made.code[i].object = entry->second;
      const auto& labels = *entry->second;
      const auto first = std::min_element(labels.begin(), labels.end());
      goes_to(i, static_cast<std::size_t>(*first - made.code.data()));
    }
    give_shape_records(state, loops);
  }

  static const std::vector<const Instr*>* table(const FunctionDecode& state,
                                                const BranchTargets& targets) {
    Function& made = *state.function;
    auto table = std::make_unique<std::vector<const Instr*>>();
    for (const std::string& name : targets.labels) {
      const auto found = state.labels.find(name);
      if (found == state.labels.end()) {
        reject(".branchtargets", fmt::format("unknown label '{}'", name), state.text->ptx_line);
      }
      table->push_back(&made.code[found->second]);
    }
    made.tables.push_back(std::move(table));
    return made.tables.back().get();
  }

  /// Stack that calls below a function need; none if calls may recurse or a function uses alloca.
  struct Below {
    bool visiting = false, known = false;
    std::optional<std::uint64_t> bytes{0};
  };

  bool allocates(std::size_t f) const {
    if (f == text_.functions.size()) return false;  // the node for calls through a register
    const auto& statements = text_.functions[f].statements;
    return std::any_of(statements.begin(), statements.end(),
                       [](const Statement& statement) { return statement.opcode == "alloca"; });
  }

  const std::optional<std::uint64_t>& stack_below(std::size_t f) {
    Below& below = below_[f];
    if (below.known) return below.bytes;
    below.visiting = true;
    if (allocates(f)) below.bytes = std::nullopt;
    for (const std::size_t g : layout_.calls[f]) {
      const bool indirect = g + 1 == layout_.calls.size();
      const std::uint64_t own = indirect ? 0 : function(g).local_bytes;
      const auto& deeper = stack_below_callee(g);
      if (below.bytes && deeper) {
        below.bytes = std::min(std::max(*below.bytes, own + *deeper), kMaxLocal);
      } else {
        below.bytes = std::nullopt;
      }
    }
    below.visiting = false;
    below.known = true;
    return below.bytes;
  }

  const std::optional<std::uint64_t>& stack_below_callee(std::size_t g) {
    static const std::optional<std::uint64_t> kEndless;
    return below_[g].visiting ? kEndless : stack_below(g);
  }

  void entry_extents(std::size_t f) {
    Function& made = function(f);
    const std::uint64_t below = stack_below(f).value_or(kRecursionStack);
    made.local_stack = align_up(std::min(made.local_bytes + below, kMaxLocal), 16);
    made.shared_bytes = layout_.dynamic_begin[f];
    made.static_shared_bytes = layout_.static_bytes[f];
  }

  const ModuleText& text_;
  Refuse refuse_;
  SharedLayout layout_;
  std::unique_ptr<Program> program_;
  Names names_;
  std::vector<std::size_t> index_;
  std::unordered_map<std::size_t, FunctionDecode> states_;
  std::unordered_map<std::size_t, Below> below_;
  std::vector<std::pair<const Variable*, std::byte*>> initialised_;
  std::uint64_t global_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Program> build(const ModuleText& text, Refuse refuse) {
  return Builder(text, refuse).run();
}

}  // namespace kbench::ptx
