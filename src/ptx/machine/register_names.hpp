// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ptx/parse/syntax.hpp"

namespace kbench::ptx {

/// Registers by name, where "%r<9>" declares nine of them. Only registers that the function
/// mentions get storage.
class RegisterNames {
 public:
  explicit RegisterNames(const FunctionText& text);
  /// The type of a register; none if it is not declared.
  std::optional<Type> type_of(const std::string& name) const;

  std::vector<std::string> used;  ///< possible register names, in the order of the text

 private:
  void add(const std::string& name);
  void collect(const Operand& operand);

  std::unordered_map<std::string, Type> single_;
  std::unordered_map<std::string, std::pair<unsigned, Type>> ranges_;
  std::unordered_set<std::string> seen_;
};

}  // namespace kbench::ptx
