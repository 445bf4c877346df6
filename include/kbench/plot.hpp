// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kbench/report.hpp"

namespace kbench {

/// Draws the report's charts that have data (fast_p over p, pass@k over k, speedups, times,
/// outcomes) with gnuplot as SVG and PNG files of the folder, which is made where it is not there.
/// Returns the files. Throws UsageError where there is no gnuplot or the folder cannot be written,
/// and kbench::Error where gnuplot fails.
std::vector<std::filesystem::path> write_plots(const Report& report,
                                               const std::filesystem::path& folder);

}  // namespace kbench
