// SPDX-License-Identifier: MIT
#include "report/text/workflow_commands.hpp"

#include <algorithm>
#include <array>

#include "report/text/code_points.hpp"

namespace kbench::report {
namespace {

constexpr std::string_view kStart = "::", kHashes = "##";
/// Words that may be between "##" and "[", in upper or lower case.
constexpr std::array<std::string_view, 3> kWords = {"", "vso", "teamcity"};

/// True for characters that .NET trims as white space; GitHub's runner is written in .NET.
bool is_white(char32_t value) {
  return (value >= 0x09 && value <= 0x0d) || value == 0x20 || value == 0x85 || value == 0xa0 ||
         value == 0x1680 || (value >= 0x2000 && value <= 0x200a) || value == 0x2028 ||
         value == 0x2029 || value == 0x202f || value == 0x205f || value == 0x3000;
}

/// True for characters that are invisible in a log and that a runner may drop.
bool is_unseen(char32_t value) { return is_white(value) || steers(value); }

/// The number of bytes of a colour sequence ("ESC [ … m") that begins at `at`; 0 if there is none.
std::size_t color_at(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", at + 2);
  return end == std::string_view::npos || text[end] != 'm' ? 0 : end + 1 - at;
}

bool is_bracketed_command(std::string_view text) {
  if (!text.starts_with(kHashes)) return false;
  text.remove_prefix(kHashes.size());
  return std::ranges::any_of(kWords, [&](std::string_view word) {
    if (text.size() <= word.size() || text[word.size()] != '[') return false;
    return std::ranges::equal(text.substr(0, word.size()), word, [](char a, char b) {
      return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
    });
  });
}

}  // namespace

std::string without_commands(std::string_view text) {
  if (text.find(kStart) == std::string_view::npos && text.find(kHashes) == std::string_view::npos)
    return std::string(text);
  std::string result;
  result.reserve(text.size() + 8);
  bool at_start = true;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t color = color_at(text, at); color > 0) {
      result += text.substr(at, color);
      at += color;
      continue;
    }
    const std::string_view rest = text.substr(at);
    const CodePoint next = code_point_at(text, at);
    result += rest.substr(0, next.bytes);
    at += next.bytes;
    if ((at_start && rest.starts_with(kStart)) || is_bracketed_command(rest)) result += ' ';
    at_start = next.value == '\n' || next.value == '\r' || (at_start && is_unseen(next.value));
  }
  return result;
}

std::string json_without_commands(std::string json) {
  for (std::size_t at = json.find(kHashes); at != std::string::npos;
       at = json.find(kHashes, at + 1))
    json.replace(at + 1, 1, "\\u0023");
  return json;
}

}  // namespace kbench::report
