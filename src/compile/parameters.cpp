// SPDX-License-Identifier: MIT
#include "compile/parameters.hpp"

#include <string_view>

#include "base/text.hpp"
#include "compile/names.hpp"

namespace kbench {
namespace {

bool take_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  text = trimmed(text);
  return true;
}

/// "float const volatile" as people write it: "const volatile float".
std::string qualifiers_first(std::string_view type) {
  std::string prefix;
  for (;;) {
    if (take_suffix(type, " const")) {
      prefix.insert(0, "const ");
    } else if (take_suffix(type, " volatile")) {
      prefix.insert(0, "volatile ");
    } else {
      return prefix + std::string(type);
    }
  }
}

KernelParameter parameter(std::string_view type) {
  type = trimmed(type);
  // A pointer to an array or function: "float (*) [4]".
  if (const std::size_t star = type.find("(*)"); star != std::string_view::npos) {
    return {true, std::string(trimmed(type.substr(0, star))) + std::string(type.substr(star + 3))};
  }
  const bool is_pointer = take_suffix(type, "*");
  return {is_pointer, qualifiers_first(type)};
}

/// Splits at the commas outside of all brackets.
std::vector<std::string_view> list_parts(std::string_view list) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const char c = list[i];
    if (c == '(' || c == '<' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == '>' || c == ']' || c == '}') --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(list.substr(start, i - start));
      start = i + 1;
    }
  }
  if (!trimmed(list).empty()) parts.push_back(list.substr(start));
  return parts;
}

}  // namespace

std::optional<std::vector<KernelParameter>> parameters_of(const std::string& probe_symbol) {
  const std::string text = demangle(probe_symbol);
  constexpr std::string_view kType = "<void (", kReference = "<void (&)(", kClose = ")>";
  const std::size_t close = text.rfind(kClose);
  const std::size_t open = text.find(kType);
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  // The probe's argument is the kernel's type or a reference to it.
  const bool is_reference = text.compare(open, kReference.size(), kReference) == 0;
  const std::size_t start = open + (is_reference ? kReference : kType).size();
  if (close < start) return std::nullopt;
  std::vector<KernelParameter> parameters;
  for (const auto part : list_parts(std::string_view(text).substr(start, close - start))) {
    parameters.push_back(parameter(part));
  }
  return parameters;
}

}  // namespace kbench
