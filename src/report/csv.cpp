// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <ostream>
#include <string_view>

#include "audited.hpp"
#include "csv_row.hpp"
#include "formats.hpp"
#include "text.hpp"

namespace kbench::report {
namespace {

const TrialResult* shown_trial(const Record& record) {
  return record.correctness.empty() ? nullptr : &record.correctness[0];
}

std::optional<double> speedup_field(const Report& report, const Record& record,
                                    double Speedup::*field) {
  const Speedup* speedup = speedup_over(record, report.baseline);
  return speedup == nullptr ? std::nullopt : std::optional(speedup->*field);
}

struct Column {
  std::string_view name;
  void (*append)(Buffer& row, const Report& report, const Record& record);
};

template <auto Field>
void text_of(Buffer& row, const Report&, const Record& record) {
  append_text(row, record.*Field);
}

template <auto Field>
void number_of(Buffer& row, const Report&, const Record& record) {
  append_number(row, record.*Field);
}

template <auto Field>
void name_of(Buffer& row, const Report&, const Record& record) {
  row.append(to_string(record.*Field));
}

template <auto Field>
void speedup_of(Buffer& row, const Report& report, const Record& record) {
  append_number(row, speedup_field(report, record, Field));
}

template <auto Field>
void error_of(Buffer& row, const Report&, const Record& record) {
  if (const TrialResult* trial = shown_trial(record)) append_number(row, trial->*Field);
}

constexpr std::array kColumns = {
    Column{"model", text_of<&Record::model>},
    Column{"problem", text_of<&Record::problem>},
    Column{"level", number_of<&Record::level>},
    Column{"sample", number_of<&Record::sample>},
    Column{"candidate", text_of<&Record::candidate>},
    Column{"kind", name_of<&Record::kind>},
    Column{"precision", text_of<&Record::precision>},
    Column{"device", text_of<&Record::device>},
    Column{"judge", text_of<&Record::judge>},
    Column{"outcome", name_of<&Record::outcome>},
    Column{"stage", name_of<&Record::stage>},
    Column{"cause", text_of<&Record::cause>},
    Column{"message", text_of<&Record::message>},
    Column{"first_wrong",
           [](Buffer& row, const Report&, const Record& record) {
             const TrialResult* trial = shown_trial(record);
             if (trial != nullptr && trial->first_wrong) {
               append_text(row, wrong_element_text(*trial->first_wrong));
             }
           }},
    Column{"max_abs_error", error_of<&TrialResult::max_abs_error>},
    Column{"max_rel_error", error_of<&TrialResult::max_rel_error>},
    Column{"time_ms",
           [](Buffer& row, const Report&, const Record& record) {
             append_number(row, time_ms(record, "candidate"));
           }},
    Column{"baseline", [](Buffer& row, const Report& report,
                          const Record&) { append_text(row, report.baseline); }},
    Column{"baseline_ms",
           [](Buffer& row, const Report& report, const Record& record) {
             append_number(row, time_ms(record, report.baseline));
           }},
    Column{"speedup", speedup_of<&Speedup::value>},
    Column{"speedup_lo", speedup_of<&Speedup::lo>},
    Column{"speedup_hi", speedup_of<&Speedup::hi>},
    Column{"relation",
           [](Buffer& row, const Report& report, const Record& record) {
             if (const Speedup* over = speedup_over(record, report.baseline))
               append_text(row, relation_of(*over));
           }},
    // The share of what the device can do at most, that limit, and what it follows from.
    Column{"limit_share",
           [](Buffer& row, const Report&, const Record& record) {
             if (record.sol) append_number(row, record.sol->share);
           }},
    Column{"limit_ms",
           [](Buffer& row, const Report&, const Record& record) {
             if (record.sol) append_number(row, record.sol->limit_ms);
           }},
    Column{"limited_by",
           [](Buffer& row, const Report&, const Record& record) {
             if (record.sol) append_text(row, record.sol->limited_by.str());
           }},
    Column{"timing_method",
           [](Buffer& row, const Report&, const Record& record) {
             if (record.timing) append_text(row, record.timing->method);
           }},
    Column{"timing_trust",
           [](Buffer& row, const Report&, const Record& record) {
             if (record.timing) append_text(row, record.timing->trust);
           }},
    // Where the time is a bound: what the candidate's process said.
    Column{"told_ms",
           [](Buffer& row, const Report&, const Record& record) {
             append_number(row, told_ms(record));
           }},
    Column{"class", text_of<&Record::kernel_class>},
    Column{"launches", number_of<&Record::launches>},
    Column{"flags",
           [](Buffer& row, const Report&, const Record& record) {
             append_text(row, fmt::format("{}", fmt::join(record.flags, " ")));
           }},
    Column{"sizes", [](Buffer& row, const Report&,
                       const Record& record) { append_text(row, sizes_text(record)); }},
    Column{"shrunk",
           [](Buffer& row, const Report&, const Record& record) {
             append_text(row, record.shrunk && record.shrunk->reduced() ? "1" : "0");
           }},
    Column{"findings",
           [](Buffer& row, const Report&, const Record& record) {
             append_text(row, std::to_string(record.findings_count));
           }},
    Column{"estimate_gpu",
           [](Buffer& row, const Report&, const Record& record) {
             if (record.estimate) append_text(row, record.estimate->gpu);
           }},
    Column{"estimate_ms",
           [](Buffer& row, const Report&, const Record& record) {
             if (record.estimate) append_number(row, record.estimate->candidate_ms);
           }},
    Column{"estimate_reference_ms",
           [](Buffer& row, const Report&, const Record& record) {
             if (record.estimate) append_number(row, record.estimate->reference_ms);
           }},
    Column{"degenerate_by",
           [](Buffer& row, const Report& report, const Record& record) {
             if (const DegenerateProblem* problem = degenerate_problem(report, record))
               append_text(row, passing_text(*problem, " "));
           }},
};

}  // namespace

void write_csv(const Report& report, std::ostream& out) {
  Buffer row;
  const auto flush = [&] {
    row.append(std::string_view("\r\n"));
    out.write(row.data(), static_cast<std::streamsize>(row.size()));
    row.clear();
  };
  const auto comma = [&] {
    if (row.size() > 0) row.push_back(',');
  };
  for (const Column& column : kColumns) {
    comma();
    row.append(column.name);
  }
  flush();
  for (const std::size_t index : report.candidates) {
    bool first = true;
    for (const Column& column : kColumns) {
      if (!first) row.push_back(',');
      first = false;
      column.append(row, report, report.run.records[index]);
    }
    flush();
  }
}

}  // namespace kbench::report
