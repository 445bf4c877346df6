// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kbench/report.hpp"

namespace kbench {

/// Draws the report's charts that have data (fast_p over p, pass@k over k, speedups, times with the
/// device's limit, outcomes, outcomes by problem and sample, the run over time) with gnuplot as SVG
/// and PNG files of the folder, which is made where it is not there. Of more than eight models the
/// best have colours, and the others are grey. Returns the files. Throws UsageError where there is
/// no gnuplot or the folder cannot be written, and kbench::Error where gnuplot fails.
std::vector<std::filesystem::path> write_plots(const Report& report,
                                               const std::filesystem::path& folder);

}  // namespace kbench
