// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "compile/split/sides.hpp"

namespace kbench {

/// Finds the initialisers that run when host code is loaded, by their form: they have a lambda or a
/// `new`, or call a function that neither the source declares nor device code has (getpid, dlopen,
/// std::time). Device code has mathematics, conversions and most of std.
class LoadTime {
 public:
  /// `is_declared` is true for names that the source declares. `unit` must outlive this object.
  LoadTime(const SourceUnit& unit, std::function<bool(std::string_view)> is_declared)
      : unit_(unit), is_declared_(std::move(is_declared)) {}

  /// True if the variable's initialiser runs at load time. `mentions`: its identifiers, including
  /// those of its macros.
  bool runs(const SourceItem& variable, const std::set<std::string, std::less<>>& mentions);

 private:
  bool holds_call(const SourceTokens& tokens, std::size_t begin, std::size_t end) const;
  bool is_host_call(const SourceTokens& tokens, std::size_t begin, std::size_t at) const;
  bool is_macro(const SourceToken& name) const;
  bool runs_by_macro(const std::string& name, int line);

  const SourceUnit& unit_;
  std::function<bool(std::string_view)> is_declared_;
  std::map<std::string, bool, std::less<>> macros_;  ///< known answers, by macro
};

}  // namespace kbench
