// SPDX-License-Identifier: MIT
#include "cli/terminal/text_table.hpp"

#include "report/text/text.hpp"

namespace kbench::cli {

using report::columns;
std::string table_text(const std::vector<std::vector<std::string>>& rows,
                       const std::set<std::size_t>& right, std::size_t widest) {
  const std::vector<std::size_t> widths = report::column_widths(rows, widest);
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
