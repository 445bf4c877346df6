// SPDX-License-Identifier: MIT
#include "cli/text_table.hpp"

#include <algorithm>
#include <string_view>

namespace kbench::cli {
namespace {

/// Columns on a terminal: bytes of UTF-8 that continue a character have none.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

std::string table_text(const std::vector<std::vector<std::string>>& rows,
                       const std::set<std::size_t>& right, std::size_t widest) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      if (width(row[i]) <= widest) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t used = width(row[i]);
      const std::string padding(widths[i] > used ? widths[i] - used : 0, ' ');
      if (i > 0) text += "  ";
      if (right.contains(i)) text += padding;
      text += row[i];
      if (!right.contains(i) && i + 1 < row.size()) text += padding;
    }
    text += '\n';
  }
  return text;
}

}  // namespace kbench::cli
