// SPDX-License-Identifier: MIT
#include "report/text/console_lines.hpp"

#include <algorithm>
#include <ostream>

#include "report/text/text.hpp"
#include "report/text/workflow_commands.hpp"

namespace kbench::report {

ConsoleLines::ConsoleLines(std::ostream& out, bool color, int width)
    : out_(out), color_(color), width_(static_cast<std::size_t>(std::max(width, 60))) {}

std::string ConsoleLines::painted(Tone tone, std::string_view text) const {
  return report::painted(color_, tone, text);
}

void ConsoleLines::line(std::string text) {
  while (text.ends_with(' ')) text.pop_back();
  out_ << without_commands(text) << '\n';
}

void ConsoleLines::labelled(std::string_view label, std::size_t indent, std::string_view text) {
  std::string before = padded(label, indent);
  for (const std::string& part : wrapped(text, width_ - indent)) {
    line(before + part);
    before.assign(indent, ' ');
  }
}

void ConsoleLines::heading(std::string_view text) {
  line("");
  line(painted(Tone::kBold, text));
}

void ConsoleLines::table(const std::vector<std::vector<std::string>>& rows, std::size_t indent) {
  const std::vector<std::size_t> widths = column_widths(rows, SIZE_MAX);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string text(indent, ' ');
    for (std::size_t i = 0; i < rows[r].size(); ++i)
      text += (i == 0 ? "" : "  ") + padded(rows[r][i], widths[i], i > 0);
    text = fitted(text, width_);
    line(r == 0 ? painted(Tone::kFaint, text) : text);
  }
}

}  // namespace kbench::report
