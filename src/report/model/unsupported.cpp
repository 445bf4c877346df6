// SPDX-License-Identifier: MIT
#include "report/model/unsupported.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "report/model/audited.hpp"
#include "report/model/scored_samples.hpp"
#include "report/model/tables.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

constexpr std::size_t kNamedModels = 8;

bool counts_as_unsupported(const Report& report, const Record& record) {
  return record.outcome == Outcome::kUnsupported && !is_left_out(report, record);
}

}  // namespace

std::int64_t judged_samples(const Report& report, const SummaryRow& row) {
  if (!row.slice.empty()) return 0;
  return row.samples - std::ranges::count_if(report.judged, [&](std::size_t index) {
           const Record& record = report.run.records[index];
           return counts_as_unsupported(report, record) && record.model == row.model &&
                  record.precision == row.precision && record.device == row.device &&
                  record.judge == row.judge && (row.level < 0 || record.level == row.level) &&
                  !(row.without_degenerate && degenerate_problem(report, record) != nullptr);
         });
}

std::string unsupported_text(const Report& report) {
  const auto count = std::ranges::count_if(report.judged, [&](std::size_t index) {
    return counts_as_unsupported(report, report.run.records[index]);
  });
  if (count == 0) return {};
  std::string models;
  std::size_t shown = 0, rows = 0;
  for (const SummaryRow& row : report.summary) {
    const std::int64_t judged = judged_samples(report, row);
    if (row.level >= 0 || judged == row.samples || rows++ >= kNamedModels) continue;
    models += fmt::format("{}{} {}/{} and {}/{}", shown++ == 0 ? "" : ", ", row_name(report, row),
                          row.correct, row.samples, row.correct, judged);
  }
  if (rows > shown) models += fmt::format(" and {} more", rows - shown);
  return fmt::format("{} unsupported, counted as wrong; correct of all and of those judged: {}",
                     counted(count, "sample"), models);
}

}  // namespace kbench::report
