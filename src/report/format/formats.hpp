// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <iosfwd>

#include "kbench/report.hpp"

namespace kbench::report {

/// For people at a terminal: fits its width, colour where the options ask for it.
void write_console(const Report& report, std::ostream& out);
/// The whole model, for programs; one candidate a line.
void write_json(const Report& report, std::ostream& out);
/// One row per candidate (RFC 4180), for spreadsheets.
void write_csv(const Report& report, std::ostream& out);
/// For a page or a pull request.
void write_markdown(const Report& report, std::ostream& out);
/// A test case per candidate, as CI systems read it.
void write_junit(const Report& report, std::ostream& out);
/// Workflow commands of GitHub Actions: failures at the candidate's line, a notice per model.
void write_github(const Report& report, std::ostream& out);
/// A table for a paper (booktabs).
void write_latex(const Report& report, std::ostream& out);
/// One page that needs nothing else, for a browser: charts, a table that sorts and filters, and
/// everything about each candidate.
void write_html(const Report& report, std::ostream& out);
/// The page's charts as SVG files of that folder, which is made if it is not there. Throws
/// kbench::Error if the browser prints none.
void write_svg(const Report& report, const std::filesystem::path& folder);
/// Throws UsageError if that is no folder to write to, or nothing here can draw charts.
void check_svg(const std::filesystem::path& folder);

}  // namespace kbench::report
