// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>
#include <vector>

namespace kbench::cli {

/// Formats rows of cells in columns with two spaces between them, in lines of at most `width`
/// columns (report/text/table.hpp). Columns in `right` are right-aligned. A cell wider than
/// `widest` shifts only its own line.
std::string table_text(const std::vector<std::vector<std::string>>& rows,
                       const std::set<std::size_t>& right, std::size_t widest, std::size_t width);

}  // namespace kbench::cli
