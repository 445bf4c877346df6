// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

/// What a terminal makes of Unicode.
namespace kbench::report {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
  bool valid = true;  ///< else it is one byte that is no UTF-8, shown as U+FFFD
};

/// The one that begins at that byte.
CodePoint code_point_at(std::string_view text, std::size_t at);

/// Whether it steers what is shown instead of being shown: control characters, ends of lines and
/// paragraphs, what turns the direction of the text around it, and what is as good as not there.
bool steers(char32_t value);

/// Columns that it takes: 0 for marks on the character before, 2 for East Asian wide characters and
/// emoji (Unicode 15, EastAsianWidth and emoji-data), else 1.
std::size_t width_of(char32_t value);

}  // namespace kbench::report
