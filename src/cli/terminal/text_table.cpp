// SPDX-License-Identifier: MIT
#include "cli/terminal/text_table.hpp"

#include <algorithm>

#include "report/text/text.hpp"

namespace kbench::cli {

using report::columns;
std::string table_text(const std::vector<std::vector<std::string>>& rows,
                       const std::set<std::size_t>& right, std::size_t widest) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      if (columns(row[i]) <= widest) widths[i] = std::max(widths[i], columns(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::size_t used = columns(row[i]);
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
