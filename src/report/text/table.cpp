// SPDX-License-Identifier: MIT
#include "report/text/table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/text/text.hpp"

namespace kbench::report {
namespace {

constexpr std::size_t kLeastToWrap = 20;  // fewer columns would break almost every word

/// The lines of a row in columns; empty if the row does not fit.
std::vector<std::string> row_lines(const std::vector<std::string>& row,
                                   const std::vector<std::size_t>& widths, const TableLook& look) {
  std::string text, before;  // before: the text before the last cell
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) text += "  ";
    if (i + 1 == row.size()) before = text;
    text += padded(row[i], widths[i], look.right.contains(i));
  }
  while (text.ends_with(' ')) text.pop_back();
  if (columns(text) <= look.width) return {text};
  const std::size_t last_begin = columns(before);
  if (look.right.contains(row.size() - 1) || last_begin + kLeastToWrap > look.width) return {};
  std::vector<std::string> lines = wrapped(row.back(), look.width - last_begin);
  for (std::size_t i = 0; i < lines.size(); ++i)
    lines[i] = (i == 0 ? before : std::string(last_begin, ' ')) + lines[i];
  return lines;
}

}  // namespace

std::vector<std::size_t> column_widths(const TextRows& rows, std::size_t widest) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      if (columns(row[i]) <= widest) widths[i] = std::max(widths[i], columns(row[i]));
  }
  return widths;
}

std::vector<std::string> stacked_row(const std::vector<std::string>& names,
                                     const std::vector<std::string>& row,
                                     const std::set<std::size_t>& right, std::size_t width) {
  constexpr std::size_t kIndent = 2;
  std::size_t first = 0;
  while (right.contains(first)) ++first;
  if (first >= row.size()) first = 0;
  std::vector<std::string> lines = wrapped(row[first], width);
  std::string values;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i == first || row[i].empty()) continue;
    const bool is_named = i < names.size() && !names[i].empty() && row.size() == names.size();
    values +=
        fmt::format("{}{}{}", values.empty() ? "" : "; ", is_named ? names[i] + ": " : "", row[i]);
  }
  if (values.empty()) return lines;
  for (const std::string& part : wrapped(values, width - std::min(width, kIndent)))
    lines.push_back(std::string(kIndent, ' ') + part);
  return lines;
}

std::vector<std::vector<std::string>> table_lines(const TextRows& rows, const TableLook& look) {
  const std::vector<std::size_t> widths = column_widths(rows, look.widest);
  std::vector<std::vector<std::string>> lines;
  for (const auto& row : rows) {
    lines.push_back(row_lines(row, widths, look));
    if (lines.back().empty()) break;
  }
  if (lines.empty() || !lines.back().empty()) return lines;
  lines.assign(1, {});
  for (std::size_t r = 1; r < rows.size(); ++r)
    lines.push_back(stacked_row(rows[0], rows[r], look.right, look.width));
  return lines;
}

}  // namespace kbench::report
