// SPDX-License-Identifier: MIT
#include "report/format/code_findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "record/run_details.hpp"
#include "report/format/annotations.hpp"
#include "report/gate/gate.hpp"
#include "report/model/observed.hpp"
#include "report/model/tables.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

constexpr std::size_t kMostFindings = 5000;  // GitHub shows no more
constexpr std::size_t kLongestFinding = 1000;

std::string file_of(const Record& record) {
  std::filesystem::path path = std::filesystem::path(record.candidate).lexically_normal();
  if (path.is_absolute()) {
    const auto below = path.lexically_proximate(std::filesystem::current_path());
    if (*below.begin() != "..") path = below;
  }
  return printable(path.generic_string());
}

class Collector {
 public:
  explicit Collector(const Report& report) : report_(report), details_(report.run) {}

  std::vector<CodeFinding> take() {
    for (const FailureGroup& group : report_.failures)
      for (const std::size_t index : group.records)
        if (!is_expected_failure(report_, index)) add_failure(report_.run.records[index]);
    for (const std::size_t index : with_findings(report_)) {
      const Record& record = report_.run.records[index];
      if (record.outcome != Outcome::kCorrect) continue;
      for (const Finding& finding : details_.whole(record).findings)
        add(record, false, finding.kind.str(), finding.line, finding.message);
    }
    return std::move(findings_);
  }

 private:
  void add_failure(const Record& record) {
    if (record.outcome == Outcome::kMissing || findings_.size() >= kMostFindings) return;
    std::string why_none;
    const Record whole = details_.whole(record);
    const std::string log = log_of(details_.details(record, why_none, kLongestDetails));
    std::string rule(to_string(record.outcome));
    if (!record.cause.empty()) rule += "." + record.cause.str();
    add(record, true, rule, failure_line(whole, log), failure_text(record));
  }

  void add(const Record& record, bool failure, const std::string& rule, int line,
           std::string_view text) {
    if (findings_.size() >= kMostFindings) return;
    CodeFinding finding{
        .file = file_of(record),
        .line = std::max(line, 1),
        .failure = failure,
        .rule = printable(rule),
        .message = fitted(printable(fmt::format("{} ({})", text, candidate_name(record))),
                          kLongestFinding),
        .fingerprint = {}};
    Sha256 hash;
    hash.field(finding.file).field(rule).field(candidate_name(record)).field(record.precision);
    hash.field(record.judge).field(record.device);
    const std::string of_rule = hash.hex();
    finding.fingerprint = sha256_hex(fmt::format("{} {}", of_rule, ++seen_[of_rule]));
    findings_.push_back(std::move(finding));
  }

  const Report& report_;
  RunDetails details_;
  std::map<std::string, int> seen_;  ///< findings of each rule of a candidate
  std::vector<CodeFinding> findings_;
};

}  // namespace

std::vector<CodeFinding> code_findings(const Report& report) { return Collector(report).take(); }

}  // namespace kbench::report
