// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "base/json/dumped.hpp"
#include "base/text.hpp"
#include "kbench/error.hpp"
#include "report/compare/compared_gate.hpp"
#include "report/gate/gate.hpp"
#include "report/model/narrowed.hpp"
#include "report/text/text.hpp"

namespace kbench {
namespace {

using nlohmann::json;

/// The path without "./", "a/../" and the like. Keys of the file and candidates' paths are compared
/// in this form.
std::string normal(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().string();
}

/// Reads the outcomes of one file; throws UsageError that names what it cannot read.
class Reader {
 public:
  explicit Reader(Expectations& expected) : expected_(expected) {}

  void read(const json& object) {
    if (!object.is_object()) fail("it is not an object of candidate files and outcomes");
    for (const auto& [file, value] : object.items())
      expected_.outcomes[normal(file)] = outcomes_of(file, value);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UsageError(fmt::format("{} is not a file of expected outcomes: {}", expected_.file,
                                 report::printable(what)));
  }

  std::vector<Outcome> outcomes_of(const std::string& file, const json& value) const {
    std::vector<Outcome> found;
    for (const json& item : value.is_array() ? value : json::array({value})) {
      const auto outcome =
          item.is_string() ? outcome_from_name(item.get<std::string>()) : std::nullopt;
      if (!outcome) fail(no_outcome(file, item));
      found.push_back(*outcome);
    }
    if (found.empty()) fail(fmt::format("\"{}\" has no outcome", file));
    return found;
  }

  static std::string no_outcome(const std::string& file, const json& item) {
    std::vector<std::string> known;
    for (const OutcomeRow& row : outcomes()) known.emplace_back(row.name);
    return fmt::format("{} of \"{}\" is not an outcome{}", item.dump(), file,
                       item.is_string() ? did_you_mean(item.get<std::string>(), known) : "");
  }

  Expectations& expected_;
};

/// The candidate's path and its ends, the longest first: "a/b/0.cu", "b/0.cu", "0.cu".
std::vector<std::string> ends_of(const std::string& candidate) {
  std::vector<std::string> ends = {normal(candidate)};
  for (std::size_t slash; (slash = ends.back().find('/')) != std::string::npos;)
    ends.push_back(ends.back().substr(slash + 1));
  return ends;
}

/// The expectation for a candidate's file.
using Outcomes = decltype(Expectations::outcomes);
Outcomes::const_iterator find(const Outcomes& outcomes, const std::string& candidate) {
  for (const std::string& end : ends_of(candidate))
    if (const auto found = outcomes.find(end); found != outcomes.end()) return found;
  return outcomes.find(kAnyFile);
}

bool accepts(const std::vector<Outcome>& outcomes, Outcome outcome) {
  return std::ranges::find(outcomes, outcome) != outcomes.end();
}

std::string any_of(const std::vector<Outcome>& outcomes) {
  std::vector<std::string_view> names;
  names.reserve(outcomes.size());
  for (const Outcome outcome : outcomes) names.push_back(to_string(outcome));
  return fmt::format("{}", fmt::join(names, " or "));
}

}  // namespace

Expectations read_expectations(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw UsageError(fmt::format("cannot read {}", file.string()));
  Expectations expected{.file = file.string(), .outcomes = {}};
  const json object = json::parse(in, nullptr, false);
  Reader(expected).read(object);
  return expected;
}

void expect(Report& report, const Expectations& expected) {
  for (const std::size_t index : report.judged) {
    const auto found = find(expected.outcomes, report.run.records[index].candidate);
    if (found != expected.outcomes.end()) report.expected[index] = found->second;
  }
}

bool is_expected_failure(const Report& report, std::size_t record) {
  const auto found = report.expected.find(record);
  const Outcome outcome = report.run.records[record].outcome;
  return found != report.expected.end() && outcome != Outcome::kCorrect &&
         accepts(found->second, outcome);
}

std::string expected_instead(const Report& report, std::size_t record) {
  const auto found = report.expected.find(record);
  if (found == report.expected.end() || accepts(found->second, report.run.records[record].outcome))
    return {};
  return any_of(found->second);
}

std::vector<std::string> unmet_expectations(const Report& report, const Expectations& expected) {
  std::vector<std::string> sentences;
  std::set<std::string> used, unknown;
  for (const std::size_t index : report.judged) {
    const Record& record = report.run.records[index];
    const auto found = find(expected.outcomes, record.candidate);
    if (found == expected.outcomes.end()) {
      unknown.insert(report::printable(record.candidate));
      continue;
    }
    used.insert(found->first);
    if (accepts(found->second, record.outcome)) continue;
    sentences.push_back(fmt::format(
        "{}: {}, expected {}{}", report::printable(record.candidate), to_string(record.outcome),
        any_of(found->second),
        record.message.empty() ? "" : fmt::format(" ({})", report::printable(record.message))));
  }
  if (!unknown.empty())
    sentences.push_back(
        fmt::format("{} not in {}: {}; its key \"{}\" is for all other files",
                    unknown.size() == 1 ? "1 file is" : fmt::format("{} files are", unknown.size()),
                    expected.file, report::named({unknown.begin(), unknown.end()}), kAnyFile));
  // The file of a sample without a verdict is not known, so only kAnyFile fits it.
  if (const auto any = expected.outcomes.find(kAnyFile); any != expected.outcomes.end()) {
    for (const Unjudged& unjudged : report.unjudged) {
      const ManifestEntry& entry = report.run.manifest[unjudged.entry];
      used.insert(any->first);
      sentences.push_back(
          fmt::format("{} {} {}: no verdict, expected {}", report::printable(entry.problem.str()),
                      report::printable(entry.model.str()), entry.sample, any_of(any->second)));
    }
  }
  std::set<std::string> left_out;
  for (const std::string& candidate : report.left_out)
    for (std::string& end : ends_of(candidate)) left_out.insert(std::move(end));
  // Other keys may be files of problems that the command line left out.
  const bool is_narrowed = report::is_narrowed(report.run);
  for (const auto& [key, outcomes] : expected.outcomes) {
    if (used.contains(key) || key == kAnyFile || left_out.contains(key) || is_narrowed) continue;
    sentences.push_back(fmt::format("{}: no verdict in this run, expected {}",
                                    report::printable(key), any_of(outcomes)));
  }
  if (used.empty() && sentences.empty())
    sentences.push_back(fmt::format(
        "{}: no sample was compared with it: {}", expected.file,
        expected.outcomes.empty() ? "it names no file" : "it names none of this run's files"));
  return sentences;
}

void write_expectations(const Report& report, std::ostream& out) {
  json whole = {{kAnyFile, to_string(Outcome::kCorrect)}};
  for (const std::size_t index : report.candidates) {
    const Record& record = report.run.records[index];
    if (record.outcome == Outcome::kHarnessFault) continue;
    json& outcomes = whole[normal(record.candidate)];
    const std::string_view name = to_string(record.outcome);
    if (outcomes.is_null()) {
      outcomes = name;
    } else if (outcomes != name) {
      if (outcomes.is_string()) outcomes = json::array({outcomes});
      if (std::ranges::find(outcomes, json(name)) == outcomes.end()) outcomes.push_back(name);
    }
  }
  out << dumped(whole, 1) << '\n';
}

}  // namespace kbench
