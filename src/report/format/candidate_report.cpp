// SPDX-License-Identifier: MIT
#include "report/format/candidate_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "base/text.hpp"
#include "record/flags.hpp"
#include "record/run_details.hpp"
#include "report/format/annotations.hpp"
#include "report/model/observed.hpp"
#include "report/model/tables.hpp"
#include "report/text/console_lines.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

using nlohmann::json;

constexpr std::size_t kShownLog = 40;
constexpr int kLinesAround = 3;
constexpr std::size_t kLabel = 13;

std::string error_text(const std::optional<double>& value) {
  return value ? fmt::format("{:.3g}", *value) : std::string(kNoValue);
}

std::string ms(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? duration(*value) : std::string(kNoValue);
}

double megabytes(std::uint64_t bytes) { return static_cast<double>(bytes) / 1e6; }

/// "2026-01-31 09:30:01 UTC".
std::string point_in_time(double seconds) {
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm utc{};
  gmtime_r(&whole, &utc);
  std::string text(32, '\0');
  text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &utc));
  return text;
}

/// Writes the parts of one candidate's report; parts without content are left out.
class CandidatePage : private ConsoleLines {
 public:
  CandidatePage(const RunFile& run, const Record& shown, const CandidateReportOptions& options,
                std::ostream& out)
      : ConsoleLines(out, options.color, options.width),
        options_(options),
        files_(run),
        record_(files_.whole(shown)),
        details_(files_.details(shown, why_no_details_)),
        log_(log_of(details_)),
        annotations_(annotations_of(record_, log_)) {}

  void write() {
    verdict();
    run_summary();
    times();
    trials();
    findings();
    profile();
    nsight();
    log();
    source();
    phases();
  }

 private:
  void verdict() {
    const bool correct = record_.outcome == Outcome::kCorrect;
    const std::string outcome = printable(outcome_text(record_.outcome, record_.cause));
    const std::string name = candidate_name(record_);
    const Tone tone = correct ? Tone::kGood : Tone::kBad;
    if (columns(outcome) + 2 + columns(name) <= width()) {
      line(painted(tone, outcome) + "  " + painted(Tone::kBold, name));
    } else {
      toned(tone, outcome);
      toned(Tone::kBold, name);
    }
    if (!record_.message.empty()) labelled("", 2, printable(record_.message));
  }

  void fact(std::string_view label, std::string_view text) {
    if (!text.empty()) labelled("  " + std::string(label), kLabel, printable(text));
  }

  void run_summary() {
    fact("candidate", record_.candidate);
    fact("kind", to_string(record_.kind));
    fact("class", record_.outcome == Outcome::kCorrect ? record_.kernel_class.str() : "");
    for (const std::string& flag : record_.flags) fact("flag", flag_text(flag));
    if (record_.degenerate_problem && !record_.degenerate_problem->empty())
      fact("degenerate", fmt::format("its problem's whole check passes {}",
                                     fmt::join(*record_.degenerate_problem, ", ")));
    fact("sizes", sizes_text(record_));
    fact("precision", record_.precision.str());
    fact("device", record_.device.str());
    fact("judge", record_.judge.str());
    if (record_.compile)
      fact("compiled", fmt::format("{} in {}{}{}", record_.compile->way,
                                   duration(record_.compile->seconds * 1e3),
                                   record_.compile->cached ? ", from the cache" : "",
                                   record_.compile->fallback.empty()
                                       ? ""
                                       : "; reason for nvcc: " + record_.compile->fallback));
    fact("weights", weights_text());
    if (record_.correct_at) fact("errors like those of", record_.correct_at->str());
    fact("reuses", record_.reused_from);
    fact("judged",
         fmt::format("{}{}",
                     record_.ended_at ? point_in_time(*record_.ended_at) + ", " : std::string(),
                     duration(record_.seconds * 1e3)));
    fact("hash", record_.candidate_hash.substr(0, 16));
  }

  /// A newer kbench may have raised a flag that this one does not know.
  static std::string flag_text(const std::string& name) {
    const FlagRow* const row = find_flag(name);
    if (row == nullptr) return name;
    return fmt::format("{}: {}{}{}", name, row->meaning, row->what_to_do.empty() ? "" : "; ",
                       row->what_to_do);
  }

  std::string weights_text() const {
    std::string text = record_.weights;
    std::ranges::replace(text, '_', ' ');
    if (!record_.unplaced.empty())
      text += fmt::format(
          "; {} {}",
          record_.weights == "as_built" ? "different from the reference:" : "no place for",
          fmt::join(record_.unplaced, ", "));
    return text;
  }

  std::string speedup_text(const Speedup& speedup) const {
    std::string text =
        fmt::format("{} over {}", factor(speedup.value), printable(speedup.baseline.str()));
    if (std::isfinite(speedup.lo))
      text += fmt::format(" ({:.2f}–{:.2f}, {})", speedup.lo, speedup.hi, relation_of(speedup));
    if (speedup.stored) text += ", whose time is from an earlier run";
    if (const auto caller = caller_speedup(record_, speedup.baseline.str()))
      text += fmt::format("; caller's speedup {}", factor(caller));
    return text;
  }

  void times() {
    if (!record_.timing) return;
    const Timing& timing = *record_.timing;
    heading(fmt::format("Times: {}, {}", printable(timing.method.str()),
                        printable(timing.trust.str())));
    TextRows rows = {{"subject", "median", "95 %", "quartiles", "mean", "std", "min", "max", "n"}};
    for (const auto& [name, side] : timing.sides)
      rows.push_back({printable(name.str()), ms(side.median_ms),
                      side.lo_ms ? ms(side.lo_ms) + "–" + ms(side.hi_ms) : std::string(kNoValue),
                      side.q1_ms ? ms(side.q1_ms) + "–" + ms(side.q3_ms) : std::string(kNoValue),
                      ms(side.mean_ms), ms(side.std_ms), ms(side.min_ms), ms(side.max_ms),
                      std::to_string(side.count)});
    table(rows, 2);
    for (const auto& [name, side] : timing.sides)
      if (side.wall_ms || side.span_ms || side.busy_ms)
        labelled("", 2,
                 fmt::format("{}: caller's time {}, span {}, busy {}", printable(name.str()),
                             ms(side.wall_ms), ms(side.span_ms), ms(side.busy_ms)));
    for (const Speedup& speedup : record_.speedup) labelled("", 2, speedup_text(speedup));
    if (const auto failed =
            details_.is_object() ? details_.find("failed_baselines") : details_.end();
        details_.is_object() && failed != details_.end() && failed->is_object())
      for (const auto& [baseline, why] : failed->items())
        if (why.is_string())
          labelled("", 2,
                   fmt::format("no time of {}: {}", printable(baseline),
                               printable(why.get<std::string>())));
    if (record_.sol && record_.sol->limit_ms)
      labelled("", 2,
               fmt::format(
                   "the device's limit is {}, by its {} ({:.3g} MB read, {:.3g} MB written): {} "
                   "reached{}",
                   ms(record_.sol->limit_ms), printable(record_.sol->limited_by.str()),
                   megabytes(record_.sol->work.read_bytes),
                   megabytes(record_.sol->work.written_bytes), limit_text(record_),
                   record_.sol->share_measured
                       ? fmt::format(", {:.0f} % of the measured limit (a copy, matrix products)",
                                     *record_.sol->share_measured * 100)
                       : ""));
    if (record_.sol && record_.sol->plausible_ms)
      labelled(
          "", 2,
          fmt::format("implausible: reading the inputs and doing the operations takes at least {}",
                      ms(record_.sol->plausible_ms)));
    if (std::ranges::find(record_.flags, "faster_than_memory") != record_.flags.end())
      labelled(
          "", 2,
          "faster_than_memory: a reported or measured time is shorter than writing the outputs "
          "takes");
  }

  void trials() {
    if (record_.correctness.empty()) return;
    heading("Trials");
    TextRows rows = {{"inputs", "trial", "max abs", "max rel", "vs eager", "allclose at", "wrong"}};
    for (const TrialResult& trial : record_.correctness)
      rows.push_back({printable(trial.distribution.str()) +
                          (trial.sizes.empty() ? "" : ", " + printable(trial.sizes.str())),
                      std::to_string(trial.trial), error_text(trial.max_abs_error),
                      error_text(trial.max_rel_error), error_text(trial.error_ratio),
                      error_text(trial.allclose_at), std::to_string(trial.wrong_elements)});
    table(rows, 2);
    for (const TrialResult& trial : record_.correctness)
      if (trial.first_wrong)
        labelled("", 2,
                 fmt::format("trial {}, {}: first wrong: {}", trial.trial,
                             printable(trial.distribution.str()),
                             printable(wrong_element_text(*trial.first_wrong))));
  }

  void findings() {
    const std::string_view again = record_.checked_again.str();
    if (record_.findings.empty() && again.empty()) return;
    heading("Findings");
    if (again == "nothing_found")
      labelled("", 2, "one more call, with the checks of --sanitize all, found nothing");
    if (again == "unfinished")
      labelled("", 2, "one more call, with the checks of --sanitize all, did not end");
    for (const Finding& finding : record_.findings) labelled("", 2, finding_text(finding));
    if (record_.findings_count > record_.findings.size())
      labelled("", 2,
               fmt::format("and {} more in the details",
                           record_.findings_count - record_.findings.size()));
  }

  void profile() {
    if (record_.profile.empty() && !record_.estimate) return;
    heading("Profile");
    const auto columns = profile_columns(record_);
    TextRows rows = {{columns.begin(), columns.end()}};
    for (auto& row : profile_rows(record_)) rows.push_back(std::move(row));
    table(rows, 2);
    for (const std::string& text :
         {estimate_text(record_), bandwidth_text(record_), std::string(profile_note(record_))})
      if (!text.empty()) labelled("", 2, text);
  }

  void nsight() {
    const auto text = [&](const char* key) {
      const auto found = details_.find(key);
      return found != details_.end() && found->is_string() ? found->get<std::string>() : "";
    };
    lines_of("Nsight Compute", text("ncu"), std::string::npos);
    if (const std::string why = text("ncu_failed"); !why.empty())
      labelled("", 2, "Nsight Compute failed: " + printable(why));
  }

  void log() {
    if (!why_no_details_.empty()) labelled("", 2, "no details here: " + why_no_details_);
    lines_of("Log", log_, options_.whole_log ? std::string::npos : kShownLog);
  }

  void lines_of(const char* name, std::string_view rest, std::size_t most) {
    if (rest.empty()) return;
    heading(name);
    std::size_t shown = 0;
    for (; !rest.empty() && shown < most; ++shown) line("  " + printable(next_line(rest)));
    if (!rest.empty())
      labelled("", 2,
               fmt::format("and {:.1f} kB more: --log shows all of it",
                           static_cast<double>(rest.size()) / 1e3));
  }

  /// Writes the annotated source lines, the lines around them, and the annotations.
  void source() {
    const Source source = source_of(record_, files_);
    if (!source.why_none.empty()) {
      labelled("", 2, "no source here: " + source.why_none);
      return;
    }
    if (!options_.whole_source && annotations_.empty()) return;
    heading("Source");
    std::multimap<int, const Annotation*> by_line;
    std::set<int> shown;
    for (const Annotation& annotation : annotations_) {
      by_line.emplace(annotation.line, &annotation);
      for (int i = annotation.line - kLinesAround; i <= annotation.line + kLinesAround; ++i)
        shown.insert(i);
    }
    std::string_view rest = source.text;
    int last = 0;
    for (int number = 1; !rest.empty(); ++number) {
      const std::string_view text = next_line(rest);
      if (!options_.whole_source && !shown.contains(number)) continue;
      if (number != last + 1 && last != 0) line("     …");
      last = number;
      const auto [first, past] = by_line.equal_range(number);
      line(fmt::format("{:>6}{} {}", number, first == past ? " " : ">", expanded(text)));
      for (auto at = first; at != past; ++at)
        line(painted(at->second->severity == "error" ? Tone::kBad : Tone::kWarning,
                     fmt::format("{:>8}{}: {}", "", at->second->severity, at->second->text)));
    }
  }

  /// A line of source with tabs as spaces and without terminal control characters.
  static std::string expanded(std::string_view text) {
    std::string spaced;
    for (const char c : text) spaced += c == '\t' ? std::string(4, ' ') : std::string(1, c);
    // Word by word, because printable() drops a control character after a space.
    std::string result;
    for (std::size_t i = 0; i < spaced.size(); ++i) {
      const std::size_t end = std::min(spaced.find(' ', i), spaced.size());
      result += printable(std::string_view(spaced).substr(i, end - i));
      if (end < spaced.size()) result += ' ';
      i = end;
    }
    return result;
  }

  /// The seconds of each phase of judging, the longest first.
  void phases() {
    const auto found = details_.is_object() ? details_.find("phases_s") : details_.end();
    if (!details_.is_object() || found == details_.end() || !found->is_object()) return;
    std::vector<std::pair<double, std::string>> phases;
    for (const auto& [name, seconds] : found->items())
      if (seconds.is_number() && seconds.get<double>() >= 1e-3)
        phases.emplace_back(seconds.get<double>(), name);
    std::ranges::sort(phases, std::greater());
    std::string text;
    for (const auto& [seconds, name] : phases)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", printable(name),
                          duration(seconds * 1e3));
    if (text.empty()) return;
    heading("Where its time went");
    labelled("", 2, text);
  }

  const CandidateReportOptions& options_;
  RunDetails files_;
  Record record_;
  std::string why_no_details_;
  json details_;
  std::string log_;
  std::vector<Annotation> annotations_;
};

}  // namespace
}  // namespace kbench::report

namespace kbench {

void write_candidate(const RunFile& run, const Record& record,
                     const CandidateReportOptions& options, std::ostream& out) {
  report::CandidatePage(run, record, options, out).write();
}

nlohmann::json candidate_json(const RunFile& run, const Record& record) {
  const RunDetails files(run);
  std::string why_none;
  nlohmann::json details = files.details(record, why_none);
  nlohmann::json whole = files.line(record);
  const auto source = report::source_of(record, files);
  return {{"record", whole.is_null() ? to_json(record) : std::move(whole)},
          {"details", std::move(details)},
          {"source", source.why_none.empty() ? nlohmann::json(source.text) : nlohmann::json()}};
}

}  // namespace kbench
