// SPDX-License-Identifier: MIT
#include "ptx/machine/names.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace kbench::ptx {
namespace {

constexpr std::size_t kLongest = 160;

std::string demangle(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : symbol;
}

/// Drops the return type and the parameter list.
std::string_view function_name(std::string_view text) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
    } else if (text[i] == '<') {
      ++depth;
    } else if (text[i] == '>') {
      --depth;
    } else if (depth == 0 && text[i] == ' ') {
      begin = i + 1;
    } else if (depth == 0 && text[i] == '(') {
      return text.substr(begin, i - begin);
    }
  }
  return text;
}

}  // namespace

std::string readable_name(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;
  const std::string whole = demangle(symbol);
  const std::string_view name = function_name(whole);
  if (name.size() <= kLongest) return std::string(name);
  return fmt::format("{}…", name.substr(0, kLongest));
}

std::string readable_place(const std::vector<std::string>& files, const Position& position) {
  const auto place = [&](int file, int line) -> std::string {
    if (file <= 0 || line <= 0 || static_cast<std::size_t>(file) >= files.size()) return {};
    return fmt::format("{}:{}", files[static_cast<std::size_t>(file)], line);
  };
  std::string outer = place(position.file, position.line);
  const std::string inner = place(position.inner_file, position.inner_line);
  if (inner.empty() || outer.empty()) return outer;
  return fmt::format("{}, inlined at {}", inner, outer);
}

}  // namespace kbench::ptx
