// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <functional>
#include <ostream>
#include <string_view>
#include <type_traits>

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

template <typename T>
void append(Buffer& row, const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>)
    append_text(row, value);
  else
    append_number(row, value);
}

/// `Of`: a field or a function of the record.
template <auto Of>
void value_of(Buffer& row, const Report&, const Record& record) {
  append(row, std::invoke(Of, record));
}

/// A field of a part that some records lack.
template <auto Part, auto Field>
void part_of(Buffer& row, const Report&, const Record& record) {
  if (const auto& part = record.*Part) append(row, (*part).*Field);
}

template <auto Field>
void name_of(Buffer& row, const Report&, const Record& record) {
  row.append(to_string(record.*Field));
}

template <auto Field>
void speedup_of(Buffer& row, const Report& report, const Record& record) {
  if (const Speedup* over = speedup_over(record, report.baseline))
    append_number(row, std::optional<double>(over->*Field));
}

template <auto Field>
void error_of(Buffer& row, const Report&, const Record& record) {
  if (const TrialResult* trial = shown_trial(record)) append_number(row, trial->*Field);
}

constexpr Column kColumns[] = {
    {"model", value_of<&Record::model>, true},
    {"problem", value_of<&Record::problem>, true},
    {"level", value_of<&Record::level>, true},
    {"sample", value_of<&Record::sample>, true},
    {"candidate", value_of<&Record::candidate>},
    {"kind", name_of<&Record::kind>},
    {"precision", value_of<&Record::precision>, true},
    {"device", value_of<&Record::device>, true},
    {"judge", value_of<&Record::judge>, true},
    {"outcome", name_of<&Record::outcome>},
    {"stage", name_of<&Record::stage>},
    {"cause", value_of<&Record::cause>},
    {"message", value_of<&Record::message>},
    {"first_wrong",
     [](Buffer& row, const Report&, const Record& record) {
       const TrialResult* trial = shown_trial(record);
       if (trial != nullptr && trial->first_wrong) {
         append_text(row, wrong_element_text(*trial->first_wrong));
       }
     }},
    {"max_abs_error", error_of<&TrialResult::max_abs_error>},
    {"max_rel_error", error_of<&TrialResult::max_rel_error>},
    {"time_ms", [](Buffer& row, const Report&,
                   const Record& record) { append_number(row, time_ms(record, "candidate")); }},
    {"baseline",
     [](Buffer& row, const Report& report, const Record&) { append_text(row, report.baseline); }},
    {"baseline_ms",
     [](Buffer& row, const Report& report, const Record& record) {
       append_number(row, time_ms(record, report.baseline));
     }},
    {"speedup", speedup_of<&Speedup::value>},
    {"speedup_lo", speedup_of<&Speedup::lo>},
    {"speedup_hi", speedup_of<&Speedup::hi>},
    {"relation",
     [](Buffer& row, const Report& report, const Record& record) {
       if (const Speedup* over = speedup_over(record, report.baseline))
         append_text(row, relation_of(*over));
     }},
    // Fraction of the device's limit that the candidate reached, the limit, and its kind (memory or
    // compute).
    {"limit_share", part_of<&Record::sol, &SpeedOfLight::share>},
    {"limit_ms", part_of<&Record::sol, &SpeedOfLight::limit_ms>},
    {"limited_by", part_of<&Record::sol, &SpeedOfLight::limited_by>},
    {"timing_method", part_of<&Record::timing, &Timing::method>},
    {"timing_trust", part_of<&Record::timing, &Timing::trust>},
    {"caller_ms", [](Buffer& row, const Report&,
                     const Record& record) { append_number(row, caller_ms(record, "candidate")); }},
    {"caller_speedup",
     [](Buffer& row, const Report& report, const Record& record) {
       append_number(row, caller_speedup(record, report.baseline));
     }},
    {"class", value_of<&Record::kernel_class>},
    {"launches", value_of<&Record::launches>},
    {"flags",
     [](Buffer& row, const Report&, const Record& record) {
       append_text(row, fmt::format("{}", fmt::join(record.flags, " ")));
     }},
    {"sizes", value_of<sizes_text>},
    {"reduced_sizes",
     [](Buffer& row, const Report&, const Record& record) {
       append_text(row, record.reduced_sizes && record.reduced_sizes->reduced() ? "1" : "0");
     }},
    {"findings", value_of<&Record::findings_count>},
    {"estimate_gpu", part_of<&Record::estimate, &TimeEstimate::gpu>},
    {"estimate_ms", part_of<&Record::estimate, &TimeEstimate::candidate_ms>},
    {"estimate_reference_ms", part_of<&Record::estimate, &TimeEstimate::reference_ms>},
    {"degenerate_by",
     [](Buffer& row, const Report& report, const Record& record) {
       if (const DegenerateProblem* problem = degenerate_problem(report, record))
         append_text(row, passing_text(*problem, " "));
       else if (const auto* names = passing_answers(report, record))
         append_text(row, fmt::format("{}", fmt::join(*names, " ")));
     }},
    {"excluded",
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
    Buffer names;
    for (const Constant& constant : kConstants) {
      names.push_back(',');
      names.append(constant.name);
    }
    write([&](const Column& column) { row_.append(column.name); }, names);
  }

  void row(const Record& record) {
    write([&](const Column& column) { column.append(row_, report_, record); }, constants_);
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
    const auto append = [&](const Column& column) {
      if (column.of_plan) column.append(row_, report_, planned);
      if (column.name == "outcome") row_.append(kNoVerdict);
    };
    write(append, constants_);
  }

 private:
  template <typename Append>
  void write(Append append, const Buffer& constants) {
    for (const Column& column : kColumns) {
      if (&column != kColumns) row_.push_back(',');
      append(column);
    }
    row_.append(constants);
    write_row(row_, out_);
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
