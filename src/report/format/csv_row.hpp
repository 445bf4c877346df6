// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "kbench/values.hpp"
#include "report/text/workflow_commands.hpp"

namespace kbench::report {

using Buffer = fmt::memory_buffer;

/// Appends a field of RFC 4180, in quotes if needed, so that no terminal, spreadsheet or CI system
/// executes it. Control bytes except line ends and tabs become U+FFFD. A text that would be a
/// formula gets a ' before it. Marks of workflow commands are broken up.
inline void append_text(Buffer& row, std::string_view words) {
  const std::string text = without_commands(words);
  const auto is_control = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t') ||
           c == 0x7f;
  };
  const bool is_formula = !text.empty() && std::string_view("=+-@\t\r").find(text[0]) < 6;
  const bool quoted = text.find_first_of(",\"\r\n") != std::string_view::npos;
  if (!quoted && !is_formula && std::ranges::none_of(text, is_control)) {
    row.append(text);
    return;
  }
  if (quoted) row.push_back('"');
  if (is_formula) row.push_back('\'');
  for (const char c : text) {
    if (c == '"') row.push_back('"');
    if (is_control(c))
      row.append(std::string_view("\xef\xbf\xbd"));
    else
      row.push_back(c);
  }
  if (quoted) row.push_back('"');
}

template <typename Number>
void append_number(Buffer& row, const Number& number) {
  fmt::format_to(std::back_inserter(row), "{}", number);
}

/// Writes a row with its line end, and empties it.
inline void write_row(Buffer& row, std::ostream& out) {
  row.append(std::string_view("\r\n"));
  out.write(row.data(), static_cast<std::streamsize>(row.size()));
  row.clear();
}

/// Appends nothing if the number is missing or not finite.
inline void append_number(Buffer& row, const std::optional<double>& number) {
  if (number && std::isfinite(*number)) append_number(row, *number);
}
inline void append_number(Buffer& row, MaybeNumber number) {
  append_number(row, std::optional<double>(number));
}

}  // namespace kbench::report
