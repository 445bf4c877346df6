// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <iosfwd>

#include "kbench/report.hpp"

namespace kbench::report {

/// For a terminal: in the options' width, coloured if the options say so.
void write_console(const Report& report, std::ostream& out);
/// The whole report, for programs; one candidate a line.
void write_json(const Report& report, std::ostream& out);
/// One row per candidate (RFC 4180), for spreadsheets.
void write_csv(const Report& report, std::ostream& out);
/// For a web page or a pull request.
void write_markdown(const Report& report, std::ostream& out);
/// Writes a table in Markdown; the first row has the titles. `right`: true for columns of numbers;
/// empty: all but the first.
void write_table(std::ostream& out, const std::vector<std::vector<std::string>>& rows,
                 const std::vector<bool>& right = {});
/// A test case per candidate, for CI systems.
void write_junit(const Report& report, std::ostream& out);
/// Workflow commands of GitHub Actions: failures at the candidate's line, a notice per model.
void write_github(const Report& report, std::ostream& out);
/// GitLab's code quality report: failures and sanitizers' findings at the candidate's line.
void write_codequality(const Report& report, std::ostream& out);
/// The same as SARIF 2.1.0, for GitHub's code scanning and editors.
void write_sarif(const Report& report, std::ostream& out);
/// A table for a paper: models by metrics, the best of a column in bold. The first line, a comment,
/// names the packages that it needs.
void write_latex(const Report& report, std::ostream& out);
/// For a browser: one self-contained page with charts, a table that sorts and filters, and
/// everything about each candidate.
void write_html(const Report& report, std::ostream& out);
/// The page's charts as SVG files in this folder, which is made if missing. Throws kbench::Error if
/// the browser draws no charts.
void write_svg(const Report& report, const std::filesystem::path& folder);
/// Throws UsageError if `folder` is not a folder, or if D3 or a browser to draw the charts is
/// missing.
void check_svg(const std::filesystem::path& folder);

}  // namespace kbench::report
