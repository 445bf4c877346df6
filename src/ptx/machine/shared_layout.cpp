// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "ptx/machine/program.hpp"

namespace kbench::ptx {
namespace {

constexpr std::uint64_t kMaxShared = std::numeric_limits<std::int32_t>::max();

std::uint64_t align_up(std::uint64_t x, std::uint64_t alignment) {
  return (x + alignment - 1) / alignment * alignment;
}

using Graph = std::vector<std::vector<std::size_t>>;

/// The functions and shared variables that a module's functions mention.
class Mentions {
 public:
  explicit Mentions(const ModuleText& text) : text_(text) {
    for (std::size_t f = 0; f < text.functions.size(); ++f) functions_[text.functions[f].name] = f;
    for (const auto& [name, target] : text.aliases) {
      if (const auto found = functions_.find(target); found != functions_.end()) {
        functions_.try_emplace(name, found->second);
      }
    }
    add_shared(text.variables);
    for (const FunctionText& function : text.functions) add_shared(function.variables);
    calls.resize(text.functions.size() + 1);
    last_caller_.resize(calls.size(), calls.size());
    for (std::size_t f = 0; f < text.functions.size(); ++f) {
      for (const Statement& statement : text.functions[f].statements) scan(f, statement);
      // A call through a register may reach any function.
      if (callable(f)) calls.back().push_back(f);
    }
  }

  /// The functions that mention the shared variable, without duplicates.
  const std::vector<std::size_t>& users(const std::string& variable) const {
    return shared_.at(variable);
  }

  /// By function: functions that it may call. The last node stands for calls through a register.
  Graph calls;

 private:
  void add_shared(const std::vector<Variable>& variables) {
    for (const Variable& variable : variables) {
      if (variable.space == Space::kShared) shared_[variable.name];
    }
  }

  bool callable(std::size_t f) const {
    return text_.functions[f].defined && !text_.functions[f].entry;
  }

  void add_call(std::size_t f, std::size_t callee) {
    if (std::exchange(last_caller_[callee], f) != f) calls[f].push_back(callee);
  }

  void mention(std::size_t f, const Operand& operand) {
    if (const auto found = shared_.find(operand.name); found != shared_.end()) {
      // Functions are scanned in order, so a repeated mention is always the last entry.
      if (found->second.empty() || found->second.back() != f) found->second.push_back(f);
    }
    if (const auto found = functions_.find(operand.name); found != functions_.end()) {
      if (callable(found->second)) add_call(f, found->second);
    }
    for (const Operand& item : operand.items) mention(f, item);
  }

  void scan(std::size_t f, const Statement& statement) {
    for (const Operand& operand : statement.operands) mention(f, operand);
    if (statement.opcode != "call") return;
    const bool result =
        !statement.operands.empty() && statement.operands[0].kind == Operand::Kind::kVector;
    const std::size_t at = result ? 1 : 0;
    if (at < statement.operands.size() &&
        functions_.find(statement.operands[at].name) == functions_.end()) {
      add_call(f, text_.functions.size());
    }
  }

  const ModuleText& text_;
  std::unordered_map<std::string, std::size_t> functions_;
  std::unordered_map<std::string, std::vector<std::size_t>> shared_;
  std::vector<std::size_t> last_caller_;  ///< by callee
};

/// Functions that calls from `from` may reach; includes `from` only if it may call itself.
std::vector<bool> reachable(const Graph& graph, std::size_t from) {
  std::vector<bool> seen(graph.size(), false);
  std::vector<std::size_t> stack = graph[from];
  while (!stack.empty()) {
    const std::size_t at = stack.back();
    stack.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    stack.insert(stack.end(), graph[at].begin(), graph[at].end());
  }
  return seen;
}

struct Placer {
  const ModuleText& text;
  const Mentions& mentions;
  std::vector<std::size_t> entries;
  std::vector<std::vector<bool>> reached;  ///< by entry: itself and everything that it calls
  SharedLayout& layout;

  std::vector<std::size_t> users(std::size_t owner, const Variable& variable) const {
    std::vector<std::size_t> found;
    const auto& functions = mentions.users(variable.name);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const bool uses = std::any_of(functions.begin(), functions.end(), [&](std::size_t f) {
        const bool visible = owner == layout.static_bytes.size();
        return reached[i][f] && (visible || owner == f);
      });
      if (uses) found.push_back(entries[i]);
    }
    return found;
  }

  void place(std::size_t owner, const std::vector<Variable>& variables, bool dynamic) {
    auto& offsets = layout.offsets[owner];
    offsets.resize(variables.size(), 0);
    for (std::size_t v = 0; v < variables.size(); ++v) {
      const Variable& variable = variables[v];
      if (variable.space != Space::kShared) continue;
      if ((variable.external || variable.count == 0) != dynamic) continue;
      const auto used_by = users(owner, variable);
      std::uint64_t begin = 0;
      for (const std::size_t e : used_by) {
        begin = std::max<std::uint64_t>(begin, layout.dynamic_begin[e]);
      }
      begin = align_up(begin, dynamic ? std::max(variable.align, 16U) : variable.align);
      offsets[v] = begin;
      const std::uint64_t bytes = std::min(variable.bytes(), kMaxShared);
      for (const std::size_t e : used_by) {
        const std::uint64_t end = dynamic ? begin : begin + bytes;
        layout.dynamic_begin[e] = static_cast<std::uint32_t>(std::min(end, kMaxShared));
        if (dynamic) continue;
        const std::uint64_t own = align_up(layout.static_bytes[e], variable.align);
        layout.static_bytes[e] = static_cast<std::uint32_t>(std::min(own + bytes, kMaxShared));
      }
    }
  }
};

}  // namespace

SharedLayout lay_out_shared(const ModuleText& text) {
  const std::size_t count = text.functions.size();
  Mentions mentions(text);
  SharedLayout layout;
  layout.offsets.resize(count + 1);
  layout.static_bytes.resize(count, 0);
  layout.dynamic_begin.resize(count, 0);
  Placer placer{text, mentions, {}, {}, layout};
  for (std::size_t f = 0; f < count; ++f) {
    if (!text.functions[f].entry) continue;
    auto reached = reachable(mentions.calls, f);
    reached[f] = true;
    placer.entries.push_back(f);
    placer.reached.push_back(std::move(reached));
  }
  for (const bool dynamic : {false, true}) {
    for (std::size_t f = 0; f < count; ++f) placer.place(f, text.functions[f].variables, dynamic);
    placer.place(count, text.variables, dynamic);
  }
  layout.calls = std::move(mentions.calls);
  return layout;
}

}  // namespace kbench::ptx
