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

/// Tells by their looks which initialisers run when host code is loaded: they hold a lambda or a
/// `new`, or call what neither the source declares nor device code has (mathematics, conversions,
/// most of std): getpid, dlopen, std::time.
class LoadTime {
 public:
  /// `is_declared` tells the names that the source declares; both are referred to.
  LoadTime(const SourceUnit& unit, std::function<bool(std::string_view)> is_declared)
      : unit_(unit), is_declared_(std::move(is_declared)) {}

  /// `mentions` are the identifiers of the variable, those of its macros included.
  bool runs(const SourceItem& variable, const std::set<std::string, std::less<>>& mentions);

 private:
  bool holds_call(const SourceTokens& tokens, std::size_t begin, std::size_t end) const;
  bool is_host_call(const SourceTokens& tokens, std::size_t begin, std::size_t at) const;
  bool is_macro(const SourceToken& name) const;
  bool runs_by_macro(const std::string& name, int line);

  const SourceUnit& unit_;
  std::function<bool(std::string_view)> is_declared_;
  std::map<std::string, bool, std::less<>> macros_;  ///< those looked at
};

}  // namespace kbench
