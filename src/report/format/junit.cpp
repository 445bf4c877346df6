// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <ostream>

#include "record/run_details.hpp"
#include "report/format/annotations.hpp"
#include "report/format/formats.hpp"
#include "report/gate/gate.hpp"
#include "report/model/scored_samples.hpp"
#include "report/model/tables.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

constexpr std::size_t kCaseLogLines = 40;
constexpr std::size_t kMostLogs = 1000;  // failures with a log; CI systems hold the file in memory

/// True if only white space precedes this byte in its line. Bytes above 0x7f are taken for white
/// space, because they may belong to such a character.
bool begins_line(std::string_view text, std::size_t at) {
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t' ||
                    static_cast<unsigned char>(text[at - 1]) >= 0x80))
    --at;
  return at == 0 || text[at - 1] == '\n';
}

/// `text` for XML 1.0: markup is escaped, characters that XML does not allow are left out.
std::string xml(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    // U+FFFE and U+FFFF are not allowed in XML.
    const bool none = text.substr(i, 2) == "\xef\xbf" && i + 2 < text.size() &&
                      static_cast<unsigned char>(text[i + 2]) >= 0xbeu;
    if (none) {
      i += 2;
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '&') {
      result += "&amp;";
    } else if (c == '"') {
      result += "&quot;";
    } else if (c == '#' && i > 0 && text[i - 1] == '#') {
      result += "&#35;";  // breaks up "##[", a workflow command in a CI system's log
    } else if (c == ':' && i > 0 && text[i - 1] == ':' && begins_line(text, i - 1)) {
      result += "&#58;";
    } else if (byte >= 0x20 || c == '\n' || c == '\t') {
      result += c;
    }
  }
  return result;
}

std::string attribute(std::string_view text) { return xml(printable(text)); }

double seconds_of(const Record* record) {
  return record != nullptr && std::isfinite(record->seconds) ? record->seconds : 0;
}

enum class Kind {
  kPassed,
  kFailed,
  kFaulty,
  kSkipped,
  kExpectedFailure,  ///< skipped too: as pytest writes an xfail
  kUnexpectedPass    ///< a failure
};

bool is_skipped(Kind kind) { return kind == Kind::kSkipped || kind == Kind::kExpectedFailure; }
bool is_failed(Kind kind) { return kind == Kind::kFailed || kind == Kind::kUnexpectedPass; }

/// A test suite: the samples of one model at one precision, on one device, by one judge.
struct Suite {
  std::string name;
  std::vector<ScoredSample> scored_samples;
  std::size_t failed = 0, faulty = 0, skipped = 0;
  double seconds = 0;
};

class Junit {
 public:
  Junit(const Report& report, std::ostream& out)
      : report_(report), out_(out), details_(report.run) {}

  void write() {
    const std::vector<Suite> suites = suites_of();
    std::size_t tests = 0, failed = 0, faulty = 0, skipped = 0;
    double seconds = 0;
    for (const Suite& suite : suites) {
      tests += suite.scored_samples.size();
      failed += suite.failed;
      faulty += suite.faulty;
      skipped += suite.skipped;
      seconds += suite.seconds;
    }
    const bool has_unplaced = !report_.unplaced.empty();
    tests += has_unplaced ? 1 : 0;
    failed += has_unplaced ? 1 : 0;
    out_ << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         << fmt::format(
                "<testsuites name=\"kbench\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
                "skipped=\"{}\" time=\"{:.3f}\">\n",
                tests, failed, faulty, skipped, seconds);
    for (const Suite& suite : suites) write(suite);
    if (has_unplaced) write_unplaced();
    out_ << "</testsuites>\n";
  }

 private:
  const Record* record_of(const ScoredSample& scored_sample) const {
    return scored_sample.record == ScoredSample::kNoRecord
               ? nullptr
               : &report_.run.records[scored_sample.record];
  }

  Kind kind_of(const ScoredSample& scored_sample) const {
    const Record* record = record_of(scored_sample);
    if (record == nullptr || record->outcome == Outcome::kHarnessFault) return Kind::kFaulty;
    const bool is_correct = record->outcome == Outcome::kCorrect;
    if (is_expected_failure(report_, scored_sample.record)) return Kind::kExpectedFailure;
    if (!expected_instead(report_, scored_sample.record).empty())
      return is_correct ? Kind::kUnexpectedPass : Kind::kFailed;
    if (is_exclusion(*record)) return Kind::kSkipped;
    return is_correct ? Kind::kPassed : Kind::kFailed;
  }

  std::vector<Suite> suites_of() const {
    std::vector<Suite> suites;
    const std::vector<ScoredSampleGroup> groups = scored_sample_groups(report_.run);
    for (const ScoredSampleGroup& group : groups) {
      std::map<Interned, std::size_t> places;
      for (const ScoredSample& scored_sample : group.scored_samples) {
        const Interned& model = report_.run.manifest[scored_sample.entry].model;
        const auto [place, is_new] = places.try_emplace(model, suites.size());
        if (is_new) {
          SummaryRow row;
          row.model = model;
          row.precision = group.precision;
          row.device = group.device;
          row.judge = group.judge;
          suites.emplace_back().name = row_name(report_, row);
        }
        Suite& suite = suites[place->second];
        const Kind kind = kind_of(scored_sample);
        suite.scored_samples.push_back(scored_sample);
        suite.failed += is_failed(kind) ? 1 : 0;
        suite.faulty += kind == Kind::kFaulty ? 1 : 0;
        suite.skipped += is_skipped(kind) ? 1 : 0;
        suite.seconds += seconds_of(record_of(scored_sample));
      }
    }
    return suites;
  }

  void write(const Suite& suite) {
    out_ << fmt::format(
        " <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
        "time=\"{:.3f}\"",
        attribute(suite.name), suite.scored_samples.size(), suite.failed, suite.faulty,
        suite.skipped, suite.seconds);
    if (!report_.run.headers.empty())
      out_ << fmt::format(" timestamp=\"{}\"", attribute(report_.run.headers.front().started));
    out_ << ">\n  <properties>\n";
    out_ << fmt::format("   <property name=\"status\" value=\"{}\"/>\n",
                        attribute(status_text(report_)));
    for (const auto& [label, text] : report_.run_summary)
      out_ << fmt::format("   <property name=\"{}\" value=\"{}\"/>\n", attribute(label),
                          attribute(text));
    out_ << "  </properties>\n";
    for (const ScoredSample& scored_sample : suite.scored_samples) write(suite, scored_sample);
    out_ << " </testsuite>\n";
  }

  void write_unplaced() {
    out_ << fmt::format(
        " <testsuite name=\"candidates\" tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\" "
        "time=\"0.000\">\n"
        "  <testcase classname=\"candidates\" name=\"belong to problems of the run\" "
        "time=\"0.000\">\n"
        "   <failure type=\"no_problem\" message=\"{}\"/>\n"
        "  </testcase>\n"
        " </testsuite>\n",
        attribute(report_.unplaced));
  }

  void write(const Suite& suite, const ScoredSample& scored_sample) {
    const ManifestEntry& entry = report_.run.manifest[scored_sample.entry];
    const Record* record = record_of(scored_sample);
    out_ << fmt::format("  <testcase classname=\"{}\" name=\"{} {}\" time=\"{:.3f}\"",
                        attribute(suite.name), attribute(entry.problem.str()), entry.sample,
                        seconds_of(record));
    if (record != nullptr) out_ << fmt::format(" file=\"{}\"", attribute(record->candidate));
    switch (kind_of(scored_sample)) {
      case Kind::kPassed:
        out_ << "/>\n";
        return;
      case Kind::kSkipped:
        out_ << fmt::format(">\n   <skipped message=\"{}\"/>\n", attribute(record->message));
        break;
      case Kind::kExpectedFailure:
        out_ << fmt::format(
            ">\n   <skipped type=\"expected_failure\" message=\"{}\"/>\n",
            attribute(fmt::format("expected failure: {}{}{}",
                                  outcome_text(record->outcome, record->cause),
                                  record->message.empty() ? "" : ": ", record->message)));
        break;
      case Kind::kUnexpectedPass:
        out_ << fmt::format(
            ">\n   <failure type=\"unexpected_pass\" message=\"correct, expected {}\"/>\n",
            expected_instead(report_, scored_sample.record));
        break;
      case Kind::kFaulty:
        out_ << fmt::format(">\n   <error type=\"{}\" message=\"{}\"/>\n",
                            record == nullptr ? "no_verdict" : "harness_fault",
                            record == nullptr ? "the run has no verdict for this candidate"
                                              : attribute(record->message));
        break;
      case Kind::kFailed:
        out_ << fmt::format(">\n   <failure type=\"{}{}\" message=\"{}\">{}</failure>\n",
                            to_string(record->outcome),
                            record->cause.empty() ? "" : "." + attribute(record->cause.str()),
                            attribute(record->message), xml(text_of(scored_sample.record)));
    }
    out_ << "  </testcase>\n";
  }

  /// A failure's text for people: the message, the expected outcome, the findings and the start of
  /// the log.
  std::string text_of(std::size_t index) {
    const Record& record = report_.run.records[index];
    std::string text = printable(failure_text(record));
    if (const std::string instead = expected_instead(report_, index); !instead.empty())
      text += "\nexpected: " + instead;
    const std::vector<Finding> findings =
        record.findings_count > 0 ? details_.whole(record).findings : std::vector<Finding>();
    for (const Finding& finding : findings) text += "\n" + printable(finding.message);
    if (++logs_ > kMostLogs) return text;
    std::string why_none;
    const std::string log = log_of(details_.details(record, why_none, kLongestDetails));
    for (const std::string& line : first_lines(log, kCaseLogLines)) text += "\n" + line;
    if (!why_none.empty()) text += "\nno log here: " + printable(why_none);
    return text;
  }

  const Report& report_;
  std::ostream& out_;
  RunDetails details_;
  std::size_t logs_ = 0;
};

}  // namespace

void write_junit(const Report& report, std::ostream& out) { Junit(report, out).write(); }

}  // namespace kbench::report
