// SPDX-License-Identifier: MIT
#include "ptx/machine/register_names.hpp"

#include "ptx/parse/cursor.hpp"

namespace kbench::ptx {

RegisterNames::RegisterNames(const FunctionText& text) {
  for (const RegisterDeclaration& declaration : text.registers) {
    const auto type = parse_type(declaration.type);
    if (declaration.count == 0) {
      single_[declaration.name] = *type;
    } else {
      ranges_[declaration.name] = {declaration.count, *type};
    }
  }
  for (const Statement& statement : text.statements) {
    add(statement.guard);
    for (const Operand& operand : statement.operands) collect(operand);
  }
}

std::optional<Type> RegisterNames::type_of(const std::string& name) const {
  if (const auto found = single_.find(name); found != single_.end()) return found->second;
  constexpr std::size_t kMostDigits = 8;
  for (std::size_t end = name.size() - 1; end > 0 && end + kMostDigits >= name.size(); --end) {
    if (name[end] < '0' || name[end] > '9') break;
    const auto found = ranges_.find(name.substr(0, end));
    if (found == ranges_.end()) continue;
    if (index_behind(name, found->first, found->second.first)) return found->second.second;
  }
  return std::nullopt;
}

void RegisterNames::add(const std::string& name) {
  if (!name.empty() && seen_.insert(name).second) used.push_back(name);
}

void RegisterNames::collect(const Operand& operand) {
  add(operand.name.substr(0, operand.name.find('.', 1)));  // "%r1.h0" of video instructions
  add(operand.second);
  for (const Operand& item : operand.items) collect(item);
}

}  // namespace kbench::ptx
