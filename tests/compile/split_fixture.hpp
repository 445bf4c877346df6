// SPDX-License-Identifier: MIT
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <variant>

#include "compile/split/split.hpp"

namespace kbench {

inline SplitSource must_split(std::string_view source) {
  auto made = split_source(source, "candidate.cu");
  if (const auto* refusal = std::get_if<SplitRefusal>(&made)) {
    ADD_FAILURE() << refusal->cause << ": " << refusal->message << " (line " << refusal->line
                  << ")";
    return {};
  }
  return std::get<SplitSource>(made);
}

inline SplitRefusal must_refuse(std::string_view source) {
  auto made = split_source(source, "candidate.cu");
  if (const auto* refusal = std::get_if<SplitRefusal>(&made)) return *refusal;
  ADD_FAILURE() << "split, but should not:\n" << std::get<SplitSource>(made).host;
  return {};
}

/// The text behind its first #line directive, as one line without superfluous blanks.
inline std::string flat(const std::string& half) {
  const std::string mark = "#line 1 \"candidate.cu\"\n";
  std::string made;
  for (const char c : half.substr(half.find(mark) + mark.size())) {
    const bool is_space = c == ' ' || c == '\n' || c == '\t';
    if (!is_space) {
      made += c;
    } else if (!made.empty() && made.back() != ' ') {
      made += ' ';
    }
  }
  while (!made.empty() && made.back() == ' ') made.pop_back();
  return made;
}

/// What stands on a line of a half, counted as its #line directives count.
inline std::string line_of(const std::string& half, int line) {
  int now = 0;
  std::string found;
  for (std::size_t at = 0; at < half.size();) {
    const std::size_t end = std::min(half.find('\n', at), half.size());
    const std::string text = half.substr(at, end - at);
    if (text.starts_with("#line ")) {
      now = std::stoi(text.substr(6)) - 1;
    } else if (now == line) {
      found += text;
    }
    ++now;
    at = end + 1;
  }
  return found;
}

}  // namespace kbench
