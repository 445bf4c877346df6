// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>
#include <vector>

namespace kbench::cli {

/// Formats rows of cells in columns with two spaces between them, one line per row. Columns in
/// `right` are right-aligned. A cell wider than `widest` shifts only its own line.
std::string table_text(const std::vector<std::vector<std::string>>& rows,
                       const std::set<std::size_t>& right, std::size_t widest);

}  // namespace kbench::cli
