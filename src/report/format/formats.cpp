// SPDX-License-Identifier: MIT
#include "report/format/formats.hpp"

#include <array>

#include "report/format/targets.hpp"
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

ReportTarget report_target(std::string_view argument) {
  ReportTarget target = report::parse_target<ReportTarget>(report_formats(), argument);
  if (target.format->check_folder != nullptr) target.format->check_folder(target.file);
  return target;
}

void write_reports(const Report& report, std::span<const ReportTarget> targets, std::ostream& out) {
  report::write_targets(report, targets, report_formats().front(), out);
}

}  // namespace kbench
