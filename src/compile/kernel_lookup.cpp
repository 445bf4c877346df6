// SPDX-License-Identifier: MIT
#include "compile/kernel_lookup.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compile/names.hpp"

namespace kbench {
namespace {

/// True for a name without template arguments or casts: only such a name can be ambiguous.
bool is_plain(std::string_view name) {
  return !name.empty() && name.find_first_of("<(&") == std::string_view::npos;
}

/// True if `name` may refer to `qualified`, as "norm" may refer to "mine::norm".
bool may_mean(std::string_view name, std::string_view qualified) {
  return qualified == name || qualified.ends_with(fmt::format("::{}", name));
}

}  // namespace

std::vector<std::string> ambiguous_names(std::string_view log,
                                         const std::vector<std::string>& name_expressions) {
  std::vector<std::string> names;
  if (log.find("cannot determine which instance of overloaded function") == std::string_view::npos)
    return names;
  for (const std::string& name : name_expressions) {
    const bool failed = log.find(fmt::format("nv_mangled_name {}\n", name)) != std::string::npos;
    if (failed && is_plain(name) && std::ranges::find(names, name) == names.end())
      names.push_back(name);
  }
  return names;
}

std::vector<std::string> kernels_named(std::string_view ptx, std::string_view name) {
  constexpr std::string_view kEntry = ".entry ";
  std::vector<std::string> expressions;
  for (std::size_t at = ptx.find(kEntry); at != std::string_view::npos;
       at = ptx.find(kEntry, at + 1)) {
    const std::size_t begin = at + kEntry.size();
    const std::string symbol(ptx.substr(begin, ptx.find_first_of("( \t\r\n", begin) - begin));
    const FunctionName kernel = function_name(demangle(symbol));
    const bool is_template = kernel.expression != kernel.qualified;
    if (is_template || kernel.parameters.empty() || !may_mean(name, kernel.qualified)) continue;
    // If the cast fits no function, NVRTC reports an error; it never converts to another signature.
    expressions.push_back(fmt::format("static_cast<void(*){}>({})", kernel.parameters, name));
  }
  return expressions;
}

}  // namespace kbench
