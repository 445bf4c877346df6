// SPDX-License-Identifier: MIT
#include "formats.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "kbench/error.hpp"
#include "standings.hpp"
#include "targets.hpp"
#include "text.hpp"

namespace kbench {
namespace {

constexpr std::array kFormats = {
    ReportFormat{"console", "txt", report::write_console},
    ReportFormat{"json", "json", report::write_json},
    ReportFormat{"csv", "csv", report::write_csv},
    ReportFormat{"markdown", "md", report::write_markdown},
};

}  // namespace

std::span<const ReportFormat> report_formats() { return kFormats; }

const ReportFormat& report_format(std::string_view name) {
  return report::format_of_name(report_formats(), name);
}

ReportTarget report_target(std::string_view argument) {
  return report::parse_target<ReportTarget>(report_formats(), argument);
}

void write_reports(const Report& report, std::span<const ReportTarget> targets, std::ostream& out) {
  report::write_targets(report, targets, report_formats().front(), out);
}

Gate parse_gate(std::string_view argument) {
  const std::size_t equals = argument.find('=');
  Gate gate{.metric = metric_from_name(argument.substr(0, equals))};
  const std::string_view number =
      equals == std::string_view::npos ? std::string_view() : argument.substr(equals + 1);
  const char* end = number.data() + number.size();
  const auto parsed = std::from_chars(number.data(), end, gate.least);
  if (number.empty() || parsed.ec != std::errc() || parsed.ptr != end ||
      !std::isfinite(gate.least)) {
    throw UsageError(
        fmt::format("\"{}\" is no gate: write METRIC=NUMBER, as in fast_1=0.5", argument));
  }
  return gate;
}

std::vector<std::string> unmet_gates(const Report& report, std::span<const Gate> gates) {
  std::vector<Metric> metrics;
  for (const Gate& gate : gates) {
    if (report.on_cpu && gate.metric.needs_speedup()) {
      throw UsageError(
          fmt::format("{} needs the times of a GPU, and these records are the CPU's: "
                      "gate on fast_0 or pass@1",
                      gate.metric.name()));
    }
    metrics.push_back(gate.metric);
  }
  std::vector<std::string> unmet;
  for (const report::StandingGroup& group : report::standing_groups(report.run)) {
    for (const SummaryRow& row : report::summary_rows(report, group, metrics)) {
      if (row.level >= 0) continue;
      for (std::size_t i = 0; i < gates.size(); ++i) {
        const Estimate& estimate = row.estimates[i];
        if (estimate.value && *estimate.value >= gates[i].least) continue;
        unmet.push_back(fmt::format("{}{}: {} is {}, below {}", report::printable(row.model.str()),
                                    row.judge.empty() || row.judge == kOwnJudge
                                        ? ""
                                        : " as judged by " + report::printable(row.judge.str()),
                                    gates[i].metric.name(),
                                    estimate.value
                                        ? fmt::format("{:.4g}", *estimate.value)
                                        : fmt::format("undefined ({})", estimate.why_none),
                                    gates[i].least));
      }
    }
  }
  return unmet;
}

}  // namespace kbench
