// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "ptx/program.hpp"

namespace kbench::ptx {
namespace {

std::uint64_t align_up(std::uint64_t x, std::uint64_t alignment) {
  return (x + alignment - 1) / alignment * alignment;
}

void collect_names(const Operand& operand, std::unordered_set<std::string>& names) {
  if (!operand.name.empty() && operand.name[0] != '%') names.insert(operand.name);
  for (const Operand& item : operand.items) collect_names(item, names);
}

std::unordered_set<std::string> names_in(const FunctionText& function) {
  std::unordered_set<std::string> names;
  for (const Statement& statement : function.statements) {
    for (const Operand& operand : statement.operands) collect_names(operand, names);
  }
  return names;
}

/// A call through a register may reach every function.
bool calls_indirectly(const FunctionText& function) {
  return std::any_of(function.statements.begin(), function.statements.end(), [](const auto& s) {
    if (s.opcode != "call") return false;
    return std::any_of(s.operands.begin(), s.operands.end(), [](const Operand& operand) {
      return operand.kind == Operand::Kind::kName && operand.name.starts_with("%");
    });
  });
}

using Graph = std::vector<std::vector<std::size_t>>;

Graph call_graph(const ModuleText& text,
                 const std::vector<std::unordered_set<std::string>>& mentioned) {
  Graph graph(text.functions.size());
  for (std::size_t f = 0; f < text.functions.size(); ++f) {
    const bool any = calls_indirectly(text.functions[f]);
    for (std::size_t g = 0; g < text.functions.size(); ++g) {
      const FunctionText& callee = text.functions[g];
      if (!callee.defined || callee.entry) continue;
      if (any || mentioned[f].count(callee.name) != 0) graph[f].push_back(g);
    }
  }
  return graph;
}

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
  const std::vector<std::unordered_set<std::string>>& mentioned;
  std::vector<std::vector<bool>> reached;  ///< by entry: itself and all that it calls
  SharedLayout& layout;

  std::vector<std::size_t> users(std::size_t owner, const Variable& variable) const {
    std::vector<std::size_t> entries;
    for (std::size_t e = 0; e < text.functions.size(); ++e) {
      if (!text.functions[e].entry) continue;
      bool uses = false;
      for (std::size_t f = 0; f < text.functions.size(); ++f) {
        const bool own = owner == text.functions.size() || owner == f;
        uses = uses || (reached[e][f] && own && mentioned[f].count(variable.name) != 0);
      }
      if (uses) entries.push_back(e);
    }
    return entries;
  }

  void place(std::size_t owner, const std::vector<Variable>& variables, bool dynamic) {
    auto& offsets = layout.offsets[owner];
    offsets.resize(variables.size(), 0);
    for (std::size_t v = 0; v < variables.size(); ++v) {
      const Variable& variable = variables[v];
      if (variable.space != Space::kShared) continue;
      if ((variable.external || variable.count == 0) != dynamic) continue;
      const auto entries = users(owner, variable);
      std::uint64_t begin = 0;
      auto& ends = dynamic ? layout.static_bytes : layout.dynamic_begin;
      for (const std::size_t e : entries) {
        begin = std::max<std::uint64_t>(begin, std::max(ends[e], layout.dynamic_begin[e]));
      }
      begin = align_up(begin, dynamic ? std::max(variable.align, 16U) : variable.align);
      offsets[v] = begin;
      for (const std::size_t e : entries) {
        const auto end = dynamic ? begin : begin + variable.bytes();
        const std::uint64_t limit = std::numeric_limits<std::int32_t>::max();
        layout.dynamic_begin[e] = static_cast<std::uint32_t>(std::min(end, limit));
        if (dynamic) continue;
        const std::uint64_t own = align_up(layout.static_bytes[e], variable.align);
        layout.static_bytes[e] =
            static_cast<std::uint32_t>(std::min(own + variable.bytes(), limit));
      }
    }
  }
};

}  // namespace

SharedLayout lay_out_shared(const ModuleText& text) {
  const std::size_t count = text.functions.size();
  std::vector<std::unordered_set<std::string>> mentioned;
  for (const FunctionText& function : text.functions) mentioned.push_back(names_in(function));
  SharedLayout layout;
  layout.calls = call_graph(text, mentioned);
  layout.offsets.resize(count + 1);
  layout.static_bytes.resize(count, 0);
  layout.dynamic_begin.resize(count, 0);
  Placer placer{text, mentioned, {}, layout};
  for (std::size_t f = 0; f < count; ++f) {
    auto reached = reachable(layout.calls, f);
    layout.recursive.push_back(reached[f]);
    reached[f] = true;
    placer.reached.push_back(std::move(reached));
  }
  for (const bool dynamic : {false, true}) {
    for (std::size_t f = 0; f < count; ++f) placer.place(f, text.functions[f].variables, dynamic);
    placer.place(count, text.variables, dynamic);
  }
  return layout;
}

}  // namespace kbench::ptx
