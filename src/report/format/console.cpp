// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "record/run_details.hpp"
#include "report/format/annotations.hpp"
#include "report/format/console_candidates.hpp"
#include "report/format/formats.hpp"
#include "report/model/audited.hpp"
#include "report/model/leaderboard.hpp"
#include "report/model/model_tables.hpp"
#include "report/model/observed.hpp"
#include "report/model/tables.hpp"
#include "report/model/verdicts.hpp"
#include "report/text/console_lines.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

constexpr std::string_view kQuietFacts[] = {"device", "problems", "excluded", "not judged",
                                            "baseline"};
constexpr std::size_t kShownFindings = 10;
constexpr std::size_t kShownLogLines = 4;
constexpr std::size_t kIntervalWidth = 9;  // "0.67–0.96"
constexpr std::size_t kWidestModel = 18;

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
    side_by_side();
    degenerate();
    verdicts();
    failures();
    findings();
    profiles();
  }

 private:
  void head() {
    toned(report_.complete ? Tone::kGood : Tone::kWarning, status_text(report_));
    for (const std::string& warning : report_.warnings) labelled("!", 2, warning);
    for (const auto& [label, text] : report_.run_summary)
      if (!report_.options.quiet || std::ranges::find(kQuietFacts, label) != std::end(kQuietFacts))
        labelled("  " + label, 13, text);
  }

  void candidates() {
    if (lists_candidates(report_)) return write_candidate_lines(report_, *this);
    heading("Candidates");
    labelled("", 2,
             fmt::format("{} are too many to list here: --verbose lists them, and so do the "
                         "formats csv and json",
                         report_.candidates.size()));
  }

  void summary() {
    if (report_.summary.empty()) return;
    if (is_narrow()) {
      stacked_summary();
    } else {
      summary_table();
    }
    for (const std::string& note : reading_notes(report_)) labelled("", 2, note);
    for (const std::string& text : model_texts(report_)) labelled("", 2, text);
  }

  void stacked_summary() {
    std::vector<std::string> names = {"Model", "problems", "correct"};
    const std::vector<std::size_t> shown = shown_metrics(report_);
    for (const std::size_t metric : shown) names.push_back(report_.metrics[metric].name());
    heading("Models");
    for (const SummaryRow& row : report_.summary) {
      std::vector<std::string> cells = {ranked_name(report_, row), std::to_string(row.problems),
                                        correct_text(row)};
      for (const std::size_t metric : shown) {
        const std::string interval = interval_text(row.estimates[metric]);
        cells.push_back(cell_text(report_, row, metric) +
                        (interval.empty() ? "" : " (" + interval + ")"));
      }
      for (const std::string& text : stacked_row(names, cells, {}, width_)) line(text);
    }
  }

  void summary_table() {
    std::size_t name = 5;
    for (const SummaryRow& row : report_.summary) {
      name = std::max(name, columns(ranked_name(report_, row)) + 2);
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
      for (const SummaryRow& row : report_.summary)
        metric_ = std::max({metric_, columns(cell_text(report_, row, metric)) + 2,
                            columns(interval_text(row.estimates[metric])) + 2});
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
  }

  /// The table of problems by models, if verbose.
  void side_by_side() {
    if (!report_.options.verbose) return;
    std::vector<std::vector<std::string>> rows = models_side_by_side(report_);
    if (rows.empty()) return;
    std::size_t width = 8, others = 0;
    for (std::size_t i = 1; i < rows[0].size(); ++i) {
      std::size_t widest = 0;
      for (const auto& row : rows) widest = std::max(widest, columns(row[i]));
      rows[0][i] = fitted_name(rows[0][i], kWidestModel);
      others += std::min(widest, kWidestModel) + 2;
    }
    width = std::max(width, width_ - std::min(width_, others + 2));
    for (auto& row : rows) row[0] = fitted_name(row[0], width);
    heading("Models side by side");
    table(rows, 2);
  }

  void summary_row(const SummaryRow& row, std::size_t name, std::span<const std::size_t> part) {
    const std::string indent = row.level < 0 ? "" : "  ";
    std::string values = padded(fitted_name(indent + ranked_name(report_, row), name), name) +
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

  /// The problems that audits found degenerate.
  void degenerate() {
    if (!report_.audited) return;
    heading(degenerate_heading(report_));
    for (const DegenerateProblem& problem : report_.degenerate)
      labelled("", 8, degenerate_text(problem));
  }

  /// The samples on which judges disagree.
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

  /// The number of failures by cause, without the candidates' names.
  void causes() {
    if (report_.failures.empty()) return;
    heading("Failures: " + failures_text(report_));
    for (const FailureGroup& group : report_.failures) cause(group);
  }

  void cause(const FailureGroup& group) {
    constexpr std::size_t kIndent = 8;
    std::string before = fmt::format("{:>6}  ", group.records.size());
    const std::string text =
        printable(outcome_text(group.outcome, group.cause)) + judge_suffix(group.judge);
    for (const std::string& part : wrapped(text, width_ - kIndent)) {
      line(before + painted(Tone::kBad, part));
      before.assign(kIndent, ' ');
    }
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

  /// The start of the compiler's or Python's log, enough to find the error.
  void first_of_log(const Record& record) {
    std::string why_none;
    const std::string log = log_of(details_.details(record, why_none, kLongestDetails));
    for (const std::string& text : first_lines(log, kShownLogLines))
      for (const std::string& part : log_line(text, width_ - 12))
        line(painted(Tone::kFaint, std::string(12, ' ') + part));
    if (record.details && record.details->length > kLongestDetails)
      labelled("", 12, fmt::format("no log here: {}; kbench show has it", why_none));
  }

  /// A line of a log as one or two lines of this width; paths are shortened before the text is cut.
  static std::vector<std::string> log_line(const std::string& text, std::size_t width) {
    if (columns(text) <= width) return {text};
    return wrapped(fitted(with_short_paths(text), 2 * width - 8), width);
  }

  /// The sanitizers' findings that are not part of a failure message.
  void findings() {
    const std::vector<std::size_t> found = with_findings(report_);
    if (found.empty()) return;
    heading(
        fmt::format("Findings: {} of {}", counted(found.size(), "candidate"), report_.finished));
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
    // Too many candidates for a line each also means too many kernels.
    if (found.empty() || !lists_candidates(report_)) return;
    // All profiles of a run are the PTX executor's, or all are a GPU's.
    const auto names = profile_columns(details_.whole(report_.run.records[found.front()]));
    std::vector<std::string> titles(names.begin(), names.end());
    titles[0] = "Profile";
    if (is_narrow()) {
      heading(titles[0]);
    } else {
      line("");
      for (const std::string& title : profile_lines(titles, titles))
        line(painted(Tone::kBold, title));
    }
    std::string_view note;
    for (const std::size_t index : found) {
      const Record record = details_.whole(report_.run.records[index]);
      for (const std::string& part : wrapped(candidate_name(record), width_))
        line(painted(Tone::kBold, part));
      for (auto row : profile_rows(record)) {
        row[0] = "  " + row[0];
        for (const std::string& text :
             is_narrow() ? stacked_row(titles, row, {}, width_) : profile_lines(titles, row))
          line(text);
      }
      for (const std::string& text : {estimate_text(record), bandwidth_text(record)})
        if (!text.empty()) labelled("", 2, text);
      if (note.empty()) note = profile_note(record);
    }
    if (!note.empty()) labelled("", 2, note);
  }

  /// A row of the profile: the kernel, then the numbers, in as many lines as needed. `titles`
  /// decide the columns' widths.
  std::vector<std::string> profile_lines(const std::vector<std::string>& titles,
                                         const std::vector<std::string>& row) const {
    constexpr std::size_t kLeastName = 20;
    const auto width_of = [&](std::size_t i) {
      return std::max<std::size_t>(titles[i].size() + 1, 9);
    };
    std::size_t whole = 0;
    for (std::size_t i = 1; i < titles.size(); ++i) whole += width_of(i);
    const std::size_t lines = whole / (width_ - kLeastName) + 1;
    const std::size_t on_each = (titles.size() - 1 + lines - 1) / lines;
    std::vector<std::string> texts;
    for (std::size_t i = 1; i < row.size(); i += on_each) {
      std::string numbers;
      for (std::size_t j = i; j < std::min(row.size(), i + on_each); ++j)
        numbers += " " + padded(row[j], width_of(j) - 1, true);
      const std::size_t name = width_ - std::min(width_, columns(numbers));
      texts.push_back(padded(i == 1 ? fitted_launch(row[0], name) : "", name) + numbers);
    }
    return texts;
  }

  const Report& report_;
  RunDetails details_;
  std::size_t width_;
  std::size_t counts_ = 0, metric_ = 0;  // widths of the summary's counts and of one metric
};

}  // namespace

void write_console(const Report& report, std::ostream& out) { Console(report, out).write(); }

}  // namespace kbench::report
