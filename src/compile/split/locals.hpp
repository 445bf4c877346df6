// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compile/split/items.hpp"

namespace kbench {

/// The names that a function declares and a lambda in it may use.
struct LocalNames {
  std::set<std::string, std::less<>> values;     ///< parameters and variables
  std::set<std::string, std::less<>> constants;  ///< variables that are integral and constexpr
  std::set<std::string, std::less<>> types;      ///< local aliases, scalar_t of AT_DISPATCH
  /// Parameters of the function's own template as they are declared, by name: "int N".
  std::map<std::string, std::string, std::less<>> template_parameters;
};

/// Adds the names that are declared in [begin, end) of a function's body. Recognizes declarations
/// by their form, because types are unknown here.
void collect_locals(const SourceText& text, std::size_t begin, std::size_t end, LocalNames& names);

/// All names of `function` that are declared before `end`.
LocalNames local_names(const SourceText& text, const SourceItem& function, std::size_t end);

/// The text of [begin, end) on one line.
std::string one_line(const SourceText& text, std::size_t begin, std::size_t end);

}  // namespace kbench
