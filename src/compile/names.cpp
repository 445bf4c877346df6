// SPDX-License-Identifier: MIT
#include "compile/names.hpp"

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

/// Walks over a name and says for each character if it is outside of all brackets. Comparisons in
/// template arguments are in parentheses, so every other angle bracket belongs to an argument list.
class Depth {
 public:
  bool is_outside(char c) {
    const bool outside = angles_ == 0 && parentheses_ == 0;
    if (c == '(') ++parentheses_;
    if (c == ')') --parentheses_;
    if (parentheses_ == 0 && c == '<') ++angles_;
    if (parentheses_ == 0 && c == '>') --angles_;
    return outside;
  }

 private:
  int angles_ = 0;
  int parentheses_ = 0;
};

/// "k<float, 4>" without its template arguments.
std::string without_arguments(std::string_view name) {
  Depth depth;
  std::string plain;
  bool inside = false;
  for (const char c : name) {
    const bool outside = depth.is_outside(c);
    if (outside) inside = c == '<';
    if (outside && !inside) plain += c;
  }
  return plain;
}

/// Offset of the parameter list, or the name's size if there is none.
std::size_t find_parameters(std::string_view name) {
  Depth depth;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (depth.is_outside(name[at]) && name[at] == '(') return at;
  }
  return name.size();
}

/// "float relu<2>" without its return type, which only symbols of template instances have.
std::string_view without_type(std::string_view name) {
  Depth depth;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    if (depth.is_outside(name[at]) && name[at] == ' ') begin = at + 1;
  }
  return name.substr(begin);
}

std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at;
  }
  return std::string_view::npos;
}

/// Rewrites functions in template arguments to the form in a source: "&(relu(float))" becomes
/// "&relu".
void name_functions(std::string& text) {
  for (std::size_t at = text.find("&("); at != std::string::npos; at = text.find("&(", at + 1)) {
    const std::size_t end = closing(text, at + 1);
    if (end == std::string::npos) return;
    const std::string inner = text.substr(at + 2, end - at - 2);
    text.replace(at + 1, end - at, function_name(inner).expression);
  }
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
  name_functions(text);
  const std::size_t end = find_parameters(text);
  name.parameters = text.substr(end);
  name.expression = without_type(std::string_view(text).substr(0, end));
  name.qualified = without_arguments(name.expression);
  // Lambdas and local types have no name outside of their function.
  name.can_be_named = name.expression.find_first_of("{#'") == std::string::npos &&
                      name.expression.find(")::") == std::string::npos;
  return name;
}

}  // namespace kbench
