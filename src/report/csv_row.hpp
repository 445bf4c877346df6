// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>

#include "kbench/maybe_number.hpp"

namespace kbench::report {

using Buffer = fmt::memory_buffer;

/// Appends a field of RFC 4180, in quotes where it needs them.
inline void append_text(Buffer& row, std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    row.append(text);
    return;
  }
  row.push_back('"');
  for (const char c : text) {
    if (c == '"') row.push_back('"');
    row.push_back(c);
  }
  row.push_back('"');
}

template <typename Number>
void append_number(Buffer& row, const Number& number) {
  fmt::format_to(std::back_inserter(row), "{}", number);
}

/// Nothing where there is no number.
inline void append_number(Buffer& row, const std::optional<double>& number) {
  if (number && std::isfinite(*number)) append_number(row, *number);
}
inline void append_number(Buffer& row, MaybeNumber number) {
  append_number(row, std::optional<double>(number));
}

}  // namespace kbench::report
