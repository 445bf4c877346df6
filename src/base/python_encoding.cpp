// SPDX-License-Identifier: MIT
#include "base/python_encoding.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace kbench {
namespace {

/// Python's names of UTF-8, after "_" became "-".
constexpr std::array<std::string_view, 5> kUtf8 = {"utf-8", "utf8", "u8", "utf", "cp65001"};
/// Encodings that contain ASCII: the starts of their names.
constexpr std::array<std::string_view, 20> kAsciiCompatible = {
    "ascii",       "us-ascii", "646",         "latin", "l1",     "iso-8859-", "iso8859-",
    "iso-latin-1", "cp125",    "windows-125", "cp437", "cp850",  "koi8-",     "mac-roman",
    "gbk",         "gb2312",   "gb18030",     "big5",  "euc-jp", "euc-kr"};

/// The encoding that a line's comment declares; empty: none.
std::string_view declared(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\f");
  if (begin == std::string_view::npos || line[begin] != '#') return {};
  constexpr std::string_view kWord = "coding";
  for (std::size_t at = line.find(kWord, begin); at != std::string_view::npos;
       at = line.find(kWord, at + 1)) {
    std::string_view rest = line.substr(at + kWord.size());
    if (rest.empty() || (rest[0] != ':' && rest[0] != '=')) continue;
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t", 1), rest.size()));
    const std::size_t end =
        rest.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
    if (end != 0 && !rest.empty()) return rest.substr(0, end);
  }
  return {};
}

bool is_comment_or_empty(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\f\r");
  return begin == std::string_view::npos || line[begin] == '#';
}

}  // namespace

std::optional<std::string> other_encoding(std::string_view source) {
  Lines lines(source);
  std::string_view line, name;
  for (int i = 0; i < 2 && name.empty() && lines.next(line); ++i) {
    name = declared(line);
    if (name.empty() && !is_comment_or_empty(line)) break;
  }
  if (name.empty()) return std::nullopt;
  std::string known = lowercase(name);
  std::ranges::replace(known, '_', '-');
  if (std::ranges::find(kUtf8, known) != kUtf8.end() || known.starts_with("utf-8-"))
    return std::nullopt;
  const bool is_ascii =
      std::ranges::all_of(source, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (is_ascii && std::ranges::any_of(kAsciiCompatible, [&](std::string_view begin) {
        return known.starts_with(begin);
      }))
    return std::nullopt;
  return std::string(name);
}

}  // namespace kbench
