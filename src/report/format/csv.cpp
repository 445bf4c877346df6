// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <string_view>

#include "report/format/csv_row.hpp"
#include "report/format/formats.hpp"
#include "report/model/audited.hpp"
#include "report/model/scored_samples.hpp"
#include "report/model/tables.hpp"
#include "report/text/text.hpp"

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
  bool of_plan = false;  ///< planned samples without a record have a value, too
};

/// The outcome's field for a planned sample without a record.
constexpr std::string_view kNoVerdict = "no_verdict";

/// A column whose value is the same for the whole report. Each row repeats it, because spreadsheets
/// and data frames read one table per file. A filtered row still says how complete its run was.
struct Constant {
  std::string_view name;
  std::string (*text)(const Report& report);
};

std::string cell_of(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, "; "));
}

constexpr std::array kConstants = {
    Constant{"run_status", status_text},
    Constant{"problem_set",
             [](const Report& report) { return cell_of(report.run_settings.problem_sets); }},
    Constant{"seed", [](const Report& report) { return cell_of(report.run_settings.seeds); }},
    Constant{"sandbox",
             [](const Report& report) { return cell_of(report.run_settings.sandboxes); }},
    Constant{"kbench", [](const Report& report) { return cell_of(report.run_settings.versions); }},
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
    Column{"model", text_of<&Record::model>, true},
    Column{"problem", text_of<&Record::problem>, true},
    Column{"level", number_of<&Record::level>, true},
    Column{"sample", number_of<&Record::sample>, true},
    Column{"candidate", text_of<&Record::candidate>},
    Column{"kind", name_of<&Record::kind>},
    Column{"precision", text_of<&Record::precision>, true},
    Column{"device", text_of<&Record::device>, true},
    Column{"judge", text_of<&Record::judge>, true},
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
    // Fraction of the device's limit that the candidate reached, the limit, and its kind (memory or
    // compute).
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
    // If the time is the wall-clock bound: the time that the candidate's process reported.
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
    Column{"reduced_sizes",
           [](Buffer& row, const Report&, const Record& record) {
             append_text(row, record.reduced_sizes && record.reduced_sizes->reduced() ? "1" : "0");
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
             else if (const auto* names = passing_answers(report, record))
               append_text(row, fmt::format("{}", fmt::join(*names, " ")));
           }},
    Column{"excluded",
           [](Buffer& row, const Report& report, const Record& record) {
             append_text(row, is_left_out(report, record) ? "1" : "0");
           }},
};

class Csv {
 public:
  Csv(const Report& report, std::ostream& out) : report_(report), out_(out) {
    for (const Constant& constant : kConstants) {
      constants_.push_back(',');
      append_text(constants_, constant.text(report));
    }
  }

  void head() {
    for (const Column& column : kColumns) {
      separate(column);
      row_.append(column.name);
    }
    for (const Constant& constant : kConstants) {
      row_.push_back(',');
      row_.append(constant.name);
    }
    flush();
  }

  void row(const Record& record) {
    for (const Column& column : kColumns) {
      separate(column);
      column.append(row_, report_, record);
    }
    row_.append(constants_);
    flush();
  }

  void row(const Unjudged& unjudged) {
    const ManifestEntry& entry = report_.run.manifest[unjudged.entry];
    Record planned;
    planned.model = entry.model;
    planned.problem = entry.problem;
    planned.level = entry.level;
    planned.sample = entry.sample;
    planned.precision = unjudged.precision;
    planned.device = unjudged.device;
    planned.judge = unjudged.judge;
    for (const Column& column : kColumns) {
      separate(column);
      if (column.of_plan) column.append(row_, report_, planned);
      if (column.name == "outcome") row_.append(kNoVerdict);
    }
    row_.append(constants_);
    flush();
  }

 private:
  void separate(const Column& column) {
    if (&column != kColumns.data()) row_.push_back(',');
  }

  void flush() {
    row_.append(std::string_view("\r\n"));
    out_.write(row_.data(), static_cast<std::streamsize>(row_.size()));
    row_.clear();
  }

  const Report& report_;
  std::ostream& out_;
  Buffer row_, constants_;
};

}  // namespace

void write_csv(const Report& report, std::ostream& out) {
  Csv csv(report, out);
  csv.head();
  for (const std::size_t index : report.candidates) csv.row(report.run.records[index]);
  // A sample without a record has no outcome, so a selection by outcome cannot choose it.
  if (report.options.select.lists_some()) return;
  for (const Unjudged& unjudged : report.unjudged) csv.row(unjudged);
}

}  // namespace kbench::report
