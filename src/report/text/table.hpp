// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace kbench::report {

/// Rows of cells. The first row has the columns' names.
using TextRows = std::vector<std::vector<std::string>>;

/// In fewer columns than these, tables stack the cells of a row instead of cutting them.
inline constexpr std::size_t kNarrowTerminal = 64;

/// The width of each column; cells wider than `widest` do not count.
std::vector<std::size_t> column_widths(const TextRows& rows, std::size_t widest);

/// A row for a terminal that is too narrow for columns: the first cell that is not in `right`, and
/// below it "name: value" of each other cell that is not empty, in lines of at most `width`
/// columns.
std::vector<std::string> stacked_row(const std::vector<std::string>& names,
                                     const std::vector<std::string>& row,
                                     const std::set<std::size_t>& right, std::size_t width);

struct TableLook {
  std::set<std::size_t> right = {};  ///< columns that are aligned to the right
  std::size_t width = SIZE_MAX;      ///< of a line
  std::size_t widest = SIZE_MAX;     ///< a cell wider than this shifts only its own row
};

/// The lines of each row, with two spaces between columns. If a line would be too long, the last
/// cell of its row wraps. If even that does not fit, all rows are stacked, and the row of names has
/// no lines.
std::vector<std::vector<std::string>> table_lines(const TextRows& rows, const TableLook& look);

}  // namespace kbench::report
