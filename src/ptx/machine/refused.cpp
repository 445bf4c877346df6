// SPDX-License-Identifier: MIT
#include "ptx/machine/refused.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace kbench::ptx {
namespace {

/// in.list: the number of bytes of the text, then the text.
void refuse(Context& c, const Instr& in) {
  std::string text(in.list[0], '\0');
  std::memcpy(text.data(), in.list + 1, text.size());
  raise(c, in, static_cast<unsigned>(std::countr_zero(c.mask)), FaultKind::kUnsupported, text);
}

const std::uint32_t* keep_text(Function& function, std::string_view text) {
  const std::size_t words = (text.size() + sizeof(std::uint32_t) - 1) / sizeof(std::uint32_t);
  auto list = std::make_unique<std::uint32_t[]>(1 + words);
  list[0] = static_cast<std::uint32_t>(text.size());
  std::memcpy(list.get() + 1, text.data(), text.size());
  function.lists.push_back(std::move(list));
  return function.lists.back().get();
}

}  // namespace

Instr refused_instruction(FunctionDecode& function, const Statement& statement,
                          const Rejected& rejected) {
  Instr made;
  made.full = made.masked = &refuse;
  made.list = keep_text(*function.function,
                        fmt::format("reaches {}: {}", rejected.instruction, rejected.message));
  const auto guard = function.registers.find(statement.guard);
  if (statement.guard.empty() || guard == function.registers.end() || !guard->second.predicate)
    return made;
  made.guard = guard->second.offset;
  made.guard_negated = statement.guard_negated;
  made.body_full = made.body_masked = &refuse;
  made.full = made.masked = &guarded;
  return made;
}

}  // namespace kbench::ptx
