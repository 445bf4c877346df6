// SPDX-License-Identifier: MIT
#include "report/format/formats.hpp"

#include <array>

#include "report/format/report_files.hpp"
#include "report/gate/gate.hpp"

namespace kbench {
namespace {

constexpr std::array kFormats = {
    ReportFormat{"console", "txt", report::write_console},
    ReportFormat{"json", "json", report::write_json},
    ReportFormat{"csv", "csv", report::write_csv},
    ReportFormat{"markdown", "md", report::write_markdown},
    ReportFormat{"junit", "xml", report::write_junit},
    ReportFormat{"github", "txt", report::write_github},
    ReportFormat{"codequality", "json", report::write_codequality},
    ReportFormat{"sarif", "sarif", report::write_sarif},
    ReportFormat{"latex", "tex", report::write_latex},
    ReportFormat{"html", "html", report::write_html},
    ReportFormat{"svg", "svg", nullptr, report::write_svg, report::check_svg},
    ReportFormat{"expect", "json", write_expectations},
};

}  // namespace

std::span<const ReportFormat> report_formats() { return kFormats; }

const ReportFormat& report_format(std::string_view name) {
  return report::format_of_name(report_formats(), name);
}

ReportFile report_file(std::string_view argument) {
  ReportFile report_file = report::parse_report_file<ReportFile>(report_formats(), argument);
  if (report_file.format->check_folder != nullptr)
    report_file.format->check_folder(report_file.file);
  return report_file;
}

void write_reports(const Report& report, std::span<const ReportFile> report_files,
                   std::ostream& out) {
  report::write_report_files(report, report_files, report_formats().front(), out);
}

}  // namespace kbench
