// SPDX-License-Identifier: MIT
#include "formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <ostream>
#include <sstream>
#include <system_error>

#include "kbench/error.hpp"
#include "standings.hpp"
#include "text.hpp"

namespace kbench {
namespace {

constexpr std::array kFormats = {
    ReportFormat{"console", "txt", report::write_console},
    ReportFormat{"json", "json", report::write_json},
    ReportFormat{"csv", "csv", report::write_csv},
    ReportFormat{"markdown", "md", report::write_markdown},
};

/// `text` without the sequences that colour it; there are no others, because what comes from
/// outside is made printable.
std::string without_color(std::string_view text) {
  std::string plain;
  for (std::size_t escape; (escape = text.find('\x1b')) != std::string_view::npos;) {
    plain += text.substr(0, escape);
    text.remove_prefix(std::min(text.size(), text.find('m', escape) + 1));
  }
  return plain.append(text);
}

/// Writes beside the file and renames, so that nobody ever reads half a report.
void write_file(const Report& report, const ReportTarget& target) {
  const std::filesystem::path unfinished = target.file.string() + ".part";
  std::error_code failure;
  {
    std::ofstream out(unfinished, std::ios::binary);
    if (report.options.color) {
      std::ostringstream colored;
      target.format->write(report, colored);
      out << without_color(colored.str());
    } else {
      target.format->write(report, out);
    }
    out.close();
    if (!out) failure = std::make_error_code(std::errc::io_error);
  }
  if (!failure) std::filesystem::rename(unfinished, target.file, failure);
  if (!failure) return;
  std::error_code ignored;
  std::filesystem::remove(unfinished, ignored);
  throw Error(
      fmt::format("cannot write the report {}: name a file in a folder that is there, may "
                  "be written and has room",
                  target.file.string()));
}

}  // namespace

std::span<const ReportFormat> report_formats() { return kFormats; }

const ReportFormat& report_format(std::string_view name) {
  std::string known;
  for (const ReportFormat& format : kFormats) {
    if (format.name == name) return format;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", format.name);
  }
  throw UsageError(fmt::format("there is no report format \"{}\"; there are {}", name, known));
}

ReportTarget report_target(std::string_view argument) {
  const std::size_t equals = argument.find('=');
  ReportTarget target{.format = &report_format(argument.substr(0, equals)), .file = {}};
  if (equals != std::string_view::npos) {
    target.file = argument.substr(equals + 1);
    if (target.file.empty()) {
      throw UsageError(fmt::format("\"{}\" names no file after \"=\"", argument));
    }
  }
  return target;
}

void write_reports(const Report& report, std::span<const ReportTarget> targets, std::ostream& out) {
  if (targets.empty()) report::write_console(report, out);
  for (const ReportTarget& target : targets) {
    if (target.file.empty()) {
      target.format->write(report, out);
    } else {
      write_file(report, target);
    }
  }
  out.flush();
  if (!out) throw Error("cannot write the report to standard output");
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
