// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

/// Unicode on a terminal: code points and their widths.
namespace kbench::report {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
  bool valid = true;  ///< if false: one byte that is not UTF-8, shown as U+FFFD
};

/// The code point that begins at byte `at`.
CodePoint code_point_at(std::string_view text, std::size_t at);

/// True if the code point controls the display instead of being visible: control characters, ends
/// of lines and paragraphs, marks that change the text's direction, and invisible characters.
bool steers(char32_t value);

/// Columns of the code point: 0 for combining marks, 2 for East Asian wide characters and emoji
/// (Unicode 15, EastAsianWidth and emoji-data), else 1.
std::size_t width_of(char32_t value);

}  // namespace kbench::report
