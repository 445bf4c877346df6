// SPDX-License-Identifier: MIT
#include "report/text/console_lines.hpp"

#include <algorithm>
#include <ostream>

#include "report/text/text.hpp"
#include "report/text/workflow_commands.hpp"

namespace kbench::report {

ConsoleLines::ConsoleLines(std::ostream& out, bool color, int width)
    : out_(out), color_(color), width_(static_cast<std::size_t>(std::max(width, 24))) {}

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
  toned(Tone::kBold, text);
}

void ConsoleLines::toned(Tone tone, std::string_view text) {
  for (const std::string& part : wrapped(text, width_)) line(painted(tone, part));
}

void ConsoleLines::table(const TextRows& rows, std::size_t indent) {
  TableLook look{.right = {}, .width = width_ - indent};
  for (std::size_t i = 1; i < rows.front().size(); ++i) look.right.insert(i);
  const auto lines = table_lines(rows, look);
  for (std::size_t r = 0; r < lines.size(); ++r)
    for (const std::string& text : lines[r]) {
      const std::string whole = std::string(indent, ' ') + text;
      line(r == 0 ? painted(Tone::kFaint, whole) : whole);
    }
}

}  // namespace kbench::report
