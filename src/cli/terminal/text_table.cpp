// SPDX-License-Identifier: MIT
#include "cli/terminal/text_table.hpp"

#include "report/text/table.hpp"

namespace kbench::cli {

std::string table_text(const std::vector<std::vector<std::string>>& rows,
                       const std::set<std::size_t>& right, std::size_t widest, std::size_t width) {
  std::string text;
  for (const auto& lines :
       report::table_lines(rows, {.right = right, .width = width, .widest = widest}))
    for (const std::string& line : lines) text += line + '\n';
  return text;
}

}  // namespace kbench::cli
