// SPDX-License-Identifier: MIT
#include "compile/host_names.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace kbench {
namespace {

constexpr std::string_view kUnnamed = "(anonymous namespace)::";

void drop_all(std::string& text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at)) {
    text.erase(at, word.size());
  }
}

/// "k<float, 4>" without what stands between its angle brackets.
std::string without_arguments(std::string_view name) {
  std::string plain;
  int depth = 0;
  for (const char c : name) {
    if (c == '<') ++depth;
    if (depth == 0) plain += c;
    if (c == '>') --depth;
  }
  return plain;
}

/// Where the parameter list begins, outside template arguments; the end of the name if there is
/// none.
std::size_t find_parameters(std::string_view name) {
  int angles = 0;
  int parentheses = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char c = name[at];
    if (c == '(' && angles == 0 && parentheses == 0) return at;
    if (c == '(') ++parentheses;
    if (c == ')') --parentheses;
    if (parentheses > 0) continue;  // a comparison among the arguments stands in parentheses
    if (c == '<') ++angles;
    if (c == '>') --angles;
  }
  return name.size();
}

}  // namespace

std::string demangle(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text != nullptr ? text.get() : symbol;
}

FunctionName function_name(std::string_view demangled) {
  std::string text(demangled);
  drop_all(text, kUnnamed);
  FunctionName name;
  const std::size_t end = find_parameters(text);
  name.parameters = text.substr(end);
  name.expression = text.substr(0, end);
  // Symbols of template instances begin with the type that is returned: for a kernel, void.
  if (name.expression.starts_with("void ")) name.expression.erase(0, 5);
  name.qualified = without_arguments(name.expression);
  name.can_be_named = name.expression.find('{') == std::string::npos &&
                      name.expression.find('#') == std::string::npos &&
                      name.expression.find('\'') == std::string::npos;
  return name;
}

}  // namespace kbench
