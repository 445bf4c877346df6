// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "audited.hpp"
#include "console_lines.hpp"
#include "formats.hpp"
#include "kbench/run_details.hpp"
#include "marks.hpp"
#include "model_tables.hpp"
#include "observed.hpp"
#include "tables.hpp"
#include "text.hpp"
#include "verdicts.hpp"

namespace kbench::report {
namespace {

constexpr std::string_view kQuietFacts[] = {"device", "problems", "excluded", "baseline"};
constexpr std::size_t kShownPerFailure = 3;
constexpr std::size_t kShownFindings = 10;
constexpr std::size_t kShownLogLines = 4;
constexpr std::size_t kIntervalWidth = 9;  // "0.67–0.96"

/// Writes the parts of a report line by line.
class Console : private ConsoleLines {
 public:
  Console(const Report& report, std::ostream& out)
      : ConsoleLines(out, report.options.color, report.options.width),
        report_(report),
        details_(report.run),
        width_(width()) {}

  void write() {
    head();
    if (!report_.options.quiet) candidates();
    summary();
    if (report_.options.quiet) return causes();
    degenerate();
    verdicts();
    failures();
    findings();
    profiles();
  }

 private:
  void head() {
    line(painted(report_.complete ? Tone::kGood : Tone::kWarning, status_text(report_)));
    for (const std::string& warning : report_.warnings) labelled("!", 2, warning);
    for (const auto& [label, text] : report_.facts)
      if (!report_.options.quiet || std::ranges::find(kQuietFacts, label) != std::end(kQuietFacts))
        labelled("  " + label, 13, text);
  }

  void candidates() {
    if (report_.candidates.empty()) return;
    if (!lists_candidates(report_)) {
      heading("Candidates");
      labelled("", 2,
               fmt::format("{} are too many to list here: --verbose lists them, and so do the "
                           "formats csv and json",
                           report_.candidates.size()));
      return;
    }
    std::size_t outcome = 7, problem = 7, model = 5;
    for (const std::size_t index : report_.candidates) {
      const Record& record = report_.run.records[index];
      outcome = std::max(outcome, columns(label_of(record)));
      problem = std::max(problem, columns(record.problem.str()));
      model = std::max(model, columns(record.model.str()));
    }
    const std::string gpu = estimated_gpu(report_);
    estimate_ = gpu.empty() ? 0 : std::max<std::size_t>(16, gpu.size() + 10);
    limit_ = has_limits(report_) ? 7 : 0;
    // What is not a name takes 35 columns; names share what is left.
    const std::size_t names = width_ - std::min(width_ - 16, outcome + 35 + estimate_ + limit_);
    problem = std::min(problem, names - std::min(model, names / 3));
    model = std::min(model, names - problem);
    const std::string speedup =
        (gpu.empty() ? "" : padded("estimate " + gpu, estimate_, true) + "  ") +
        (limit_ == 0 ? "" : padded("limit", limit_ - 2, true) + "  ") +
        (report_.on_cpu ? "" : "speedup over " + report_.baseline);
    heading(fitted(
        fmt::format("{} {} {} {:>3} {}  {}", padded("Outcome", outcome), padded("problem", problem),
                    padded("model", model), "#", padded(time_label(report_), 9, true), speedup),
        width_));
    for (const std::size_t index : report_.candidates) {
      candidate(report_.run.records[index], outcome, problem, model);
    }
  }

  std::string label_of(const Record& record) const {
    return std::string(outcomes()[static_cast<std::size_t>(record.outcome)].label);
  }

  void candidate(const Record& record, std::size_t outcome, std::size_t problem,
                 std::size_t model) {
    const bool correct = record.outcome == Outcome::kCorrect;
    const auto time = time_ms(record, "candidate");
    std::string speedup;
    if (const Speedup* over = speedup_over(record, report_.baseline);
        over != nullptr && !report_.on_cpu) {
      speedup =
          fmt::format("{:>6} {}", factor(over->value),
                      interval_text({.value = {}, .lo = over->lo, .hi = over->hi, .why_none = {}}));
    } else if (correct && !report_.on_cpu) {
      speedup = fmt::format("{:>6}", kNoValue);
    }
    std::string text = fmt::format(
        "{} {} {} {:>3} {} {}", padded(fitted(label_of(record), outcome), outcome),
        padded(fitted(printable(record.problem.str()), problem), problem),
        padded(fitted(printable(record.model.str()), model), model), record.sample,
        padded(time ? duration(*time) : std::string(correct ? kNoValue : ""), 9, true),
        (estimate_ == 0 ? "" : " " + padded(short_estimate(record), estimate_, true)) +
            (limit_ == 0
                 ? ""
                 : " " + padded(correct ? limit_text(record) : "", limit_ - 2, true) + " ") +
            (report_.on_cpu ? speedup : padded(speedup, 18)));
    text = fitted(text, width_);
    const std::size_t used = columns(text);
    if (used + 4 < width_) text += " " + fitted(remarks(record), width_ - used - 1);
    const std::string label = fitted(label_of(record), outcome);
    text.replace(0, label.size(), painted(correct ? Tone::kGood : Tone::kBad, label));
    line(std::move(text));
  }

  void summary() {
    if (report_.summary.empty()) return;
    std::size_t name = 5;
    for (const SummaryRow& row : report_.summary) {
      name = std::max(name, columns(row_name(report_, row)) + 2);
    }
    name = std::min(name, width_ / 3);
    counts_ = 9;
    for (const SummaryRow& row : report_.summary) {
      counts_ = std::max(counts_, columns(correct_text(row)) + 2);
    }
    const std::vector<std::size_t> shown = shown_metrics(report_);
    metric_ = kIntervalWidth + 2;
    for (const std::size_t metric : shown) {
      metric_ = std::max(metric_, report_.metrics[metric].name().size() + 2);
    }
    const std::size_t per_table = std::max<std::size_t>(1, (width_ - name - counts_ - 9) / metric_);
    for (std::size_t i = 0; i < shown.size(); i += per_table) {
      const std::span<const std::size_t> part(shown.data() + i,
                                              std::min(per_table, shown.size() - i));
      std::string title =
          padded("Model", name) + padded("problems", 9, true) + padded("correct", counts_, true);
      for (const std::size_t metric : part) {
        title += padded(report_.metrics[metric].name(), metric_, true);
      }
      heading(title);
      for (const SummaryRow& row : report_.summary) summary_row(row, name, part);
    }
    for (const std::string& reason : missing_values(report_)) labelled("", 2, reason);
    labelled("", 2,
             "Intervals are 95 % over problems; correct counts samples, fast_p and geomean (n) "
             "first samples only.");
    for (const std::string& text : model_texts(report_)) labelled("", 2, text);
  }

  static std::string correct_text(const SummaryRow& row) {
    return fmt::format("{}/{}", row.correct, row.samples);
  }

  void summary_row(const SummaryRow& row, std::size_t name, std::span<const std::size_t> part) {
    const std::string indent = row.level < 0 ? "" : "  ";
    std::string values = padded(fitted(indent + row_name(report_, row), name), name) +
                         padded(std::to_string(row.problems), 9, true) +
                         padded(correct_text(row), counts_, true);
    std::string intervals(name + 9 + counts_, ' ');
    for (const std::size_t metric : part) {
      const Estimate& estimate = row.estimates[metric];
      values += padded(cell_text(report_, row, metric), metric_, true);
      intervals += padded(interval_text(estimate), metric_, true);
    }
    line(row.level < 0 ? painted(Tone::kBold, values) : values);
    if (intervals.find_first_not_of(' ') != std::string::npos) {
      while (intervals.ends_with(' ')) intervals.pop_back();
      line(painted(Tone::kFaint, intervals));
    }
  }

  /// Which problems tell nothing.
  void degenerate() {
    if (!report_.audited) return;
    heading(degenerate_heading(report_));
    for (const DegenerateProblem& problem : report_.degenerate)
      labelled("", 8, degenerate_text(problem));
  }

  /// Where judges do not agree.
  void verdicts() {
    const auto shared = shared_verdicts(report_);
    if (shared.empty()) return;
    heading(fmt::format("Verdicts that differ: {} of {} that several judges gave",
                        std::ranges::count(shared, true, &Verdicts::differ), shared.size()));
    for (const Verdicts& verdicts : shared) {
      if (!verdicts.differ) continue;
      labelled("", 8, candidate_name(report_.run.records[verdicts.records.front()]));
      labelled("", 10, verdicts_text(report_, verdicts));
    }
  }

  /// How many failed of what, and nothing of whom.
  void causes() {
    if (report_.failures.empty()) return;
    heading("Failures: " + failures_text(report_));
    for (const FailureGroup& group : report_.failures) cause(group);
  }

  void cause(const FailureGroup& group) {
    const std::string_view label = outcomes()[static_cast<std::size_t>(group.outcome)].label;
    line(fmt::format(
        "{:>6}  {}", group.records.size(),
        painted(Tone::kBad,
                printable(group.cause.empty() ? std::string(label)
                                              : fmt::format("{}, {}", label, group.cause)) +
                    judge_suffix(group.judge))));
  }

  void failures() {
    if (report_.failures.empty()) return;
    heading("Failures: " + failures_text(report_));
    for (const FailureGroup& group : report_.failures) {
      cause(group);
      const std::size_t shown = report_.options.verbose
                                    ? group.records.size()
                                    : std::min(group.records.size(), kShownPerFailure);
      for (std::size_t i = 0; i < shown; ++i) {
        const Record& record = report_.run.records[group.records[i]];
        labelled("", 8, candidate_name(record));
        labelled("", 10, failure_text(record));
        if (i == 0) first_of_log(record);
      }
      if (shown < group.records.size()) {
        labelled("", 8, fmt::format("and {} more", group.records.size() - shown));
      }
    }
  }

  /// Of what its compiler or Python said, as much as shows where to look.
  void first_of_log(const Record& record) {
    std::string why_none;
    const std::string log = log_of(details_.details(record, why_none, kLongestDetails));
    for (const std::string& text : first_lines(log, kShownLogLines))
      line(painted(Tone::kFaint, std::string(12, ' ') + fitted(text, width_ - 12)));
    if (record.details && record.details->length > kLongestDetails)
      labelled("", 12, fmt::format("its log is not read here: {}; kbench show does", why_none));
  }

  /// What the sanitizers saw in candidates that were right, or failed by something else.
  void findings() {
    const std::vector<std::size_t> found = with_findings(report_);
    if (found.empty()) return;
    heading(fmt::format("Findings: {} of {}",
                        counted(static_cast<std::int64_t>(found.size()), "candidate"),
                        report_.finished));
    const std::size_t shown =
        report_.options.verbose ? found.size() : std::min(found.size(), kShownFindings);
    for (std::size_t i = 0; i < shown; ++i) {
      const Record record = details_.whole(report_.run.records[found[i]]);
      labelled("", 8, candidate_name(record));
      for (const Finding& finding : record.findings) {
        if (!is_fault(finding)) labelled("", 10, finding_text(finding));
      }
      if (record.findings_count > record.findings.size()) {
        labelled("", 10,
                 fmt::format("and {} more in the details",
                             record.findings_count - record.findings.size()));
      }
    }
    if (shown < found.size()) labelled("", 8, fmt::format("and {} more", found.size() - shown));
  }

  void profiles() {
    const std::vector<std::size_t> found = with_profile(report_);
    // Where candidates are too many for a line each, so are their kernels.
    if (found.empty() || !lists_candidates(report_)) return;
    // All of one run are of the executor, or of a GPU.
    const auto columns = profile_columns(details_.whole(report_.run.records[found.front()]));
    // The kernel takes what the numbers leave.
    const auto column_width = [&](std::size_t i) {
      return std::max<std::size_t>(columns[i].size() + 1, 9);
    };
    std::size_t numbers = 0;
    for (std::size_t i = 1; i < columns.size(); ++i) numbers += column_width(i);
    const std::size_t name = width_ - std::min(width_ - 20, numbers);
    std::string title = padded("Profile", name);
    for (std::size_t i = 1; i < columns.size(); ++i)
      title += padded(columns[i], column_width(i), true);
    heading(title);
    std::string_view note;
    for (const std::size_t index : found) {
      const Record record = details_.whole(report_.run.records[index]);
      line(painted(Tone::kBold, candidate_name(record)));
      for (const auto& row : profile_rows(record)) {
        std::string text = padded("  " + fitted(row[0], name - 2), name);
        for (std::size_t i = 1; i < row.size(); ++i) text += padded(row[i], column_width(i), true);
        line(text);
      }
      for (const std::string& text : {estimate_text(record), bandwidth_text(record)})
        if (!text.empty()) labelled("", 2, text);
      if (note.empty()) note = profile_note(record);
    }
    if (!note.empty()) labelled("", 2, note);
  }

  const Report& report_;
  RunDetails details_;
  std::size_t width_;
  std::size_t estimate_ = 0;             // columns of the estimates; 0: there are none
  std::size_t limit_ = 0;                // of shares of the device's limit, likewise
  std::size_t counts_ = 0, metric_ = 0;  // columns of the summary's counts and of one metric
};

}  // namespace

void write_console(const Report& report, std::ostream& out) { Console(report, out).write(); }

}  // namespace kbench::report
