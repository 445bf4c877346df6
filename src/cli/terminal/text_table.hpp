// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>
#include <vector>

namespace kbench::cli {

/// Rows of cells in columns, two spaces between them, one line a row; the columns in `right` end
/// at one place, all others begin there. A cell above `widest` pushes its own line to the right,
/// not those of all rows.
std::string table_text(const std::vector<std::vector<std::string>>& rows,
                       const std::set<std::size_t>& right, std::size_t widest);

}  // namespace kbench::cli
