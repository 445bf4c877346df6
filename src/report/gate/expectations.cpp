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
#include "report/gate/gate.hpp"
#include "report/model/scored_samples.hpp"
#include "report/text/text.hpp"

namespace kbench {
namespace {

using nlohmann::json;

/// Reads the outcomes of one file; throws UsageError that names what it cannot read.
class Reader {
 public:
  explicit Reader(Expectations& expected) : expected_(expected) {}

  void read(const json& object, const std::string& model) {
    if (!object.is_object()) fail("it is not an object of problems and outcomes");
    for (const auto& [name, value] : object.items()) {
      if (!value.is_object()) {
        expected_.outcomes[{model, name}] = outcomes_of(name, value);
      } else if (model.empty()) {
        read(value, name);
      } else {
        fail(fmt::format("\"{}\" of model \"{}\" is an object, not an outcome", name, model));
      }
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw UsageError(fmt::format("{} is not a file of expected outcomes: {}", expected_.file,
                                 report::printable(what)));
  }

  std::vector<Outcome> outcomes_of(const std::string& problem, const json& value) const {
    std::vector<Outcome> found;
    for (const json& item : value.is_array() ? value : json::array({value})) {
      const auto outcome =
          item.is_string() ? outcome_from_name(item.get<std::string>()) : std::nullopt;
      if (!outcome) fail(no_outcome(problem, item));
      found.push_back(*outcome);
    }
    if (found.empty()) fail(fmt::format("\"{}\" has no outcome", problem));
    return found;
  }

  static std::string no_outcome(const std::string& problem, const json& item) {
    std::vector<std::string> known;
    for (const OutcomeRow& row : outcomes()) known.emplace_back(row.name);
    return fmt::format("{} of \"{}\" is not an outcome{}", item.dump(), problem,
                       item.is_string() ? did_you_mean(item.get<std::string>(), known) : "");
  }

  Expectations& expected_;
};

/// The expectation for a model's problem. The problem's name has precedence over kAnyProblem, then
/// the model's name over an entry for every model.
using Outcomes = decltype(Expectations::outcomes);
Outcomes::const_iterator find(const Outcomes& outcomes, const ManifestEntry& entry) {
  for (const std::string& problem : {entry.problem.str(), std::string(kAnyProblem)})
    for (const std::string& model : {entry.model.str(), std::string()})
      if (const auto found = outcomes.find({model, problem}); found != outcomes.end()) return found;
  return outcomes.end();
}

/// True if the selection left out every sample that the expectation is for.
bool is_not_judged(const Report& report, const std::pair<std::string, std::string>& key) {
  return std::ranges::any_of(report.left_out, [&](const auto& left_out) {
    return left_out.second == key.second && (key.first.empty() || left_out.first == key.first);
  });
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
  Reader(expected).read(object, "");
  return expected;
}

std::vector<std::string> unmet_expectations(const Report& report, const Expectations& expected) {
  std::vector<std::string> sentences;
  std::set<std::pair<std::string, std::string>> met;
  for (const report::ScoredSampleGroup& group : report::scored_sample_groups(report.run)) {
    for (const report::ScoredSample& scored_sample : group.scored_samples) {
      const ManifestEntry& entry = report.run.manifest[scored_sample.entry];
      const auto found = find(expected.outcomes, entry);
      if (found == expected.outcomes.end()) continue;
      met.insert(found->first);
      const Record* record = scored_sample.record == report::ScoredSample::kNoRecord
                                 ? nullptr
                                 : &report.run.records[scored_sample.record];
      if (record != nullptr &&
          std::ranges::find(found->second, record->outcome) != found->second.end())
        continue;
      sentences.push_back(fmt::format(
          "{} {} {}: {}, expected {}{}", report::printable(entry.problem.str()),
          report::printable(entry.model.str()), entry.sample,
          record == nullptr ? "no verdict" : to_string(record->outcome), any_of(found->second),
          record == nullptr || record->message.empty()
              ? ""
              : fmt::format(" ({})", report::printable(record->message))));
    }
  }
  for (const auto& [key, outcomes] : expected.outcomes) {
    if (met.contains(key) || key.second == kAnyProblem || is_not_judged(report, key)) continue;
    sentences.push_back(
        fmt::format("{}{}: not in this run, expected {}", report::printable(key.second),
                    key.first.empty() ? "" : " " + report::printable(key.first), any_of(outcomes)));
  }
  if (met.empty() && sentences.empty())
    sentences.push_back(fmt::format("{}: no sample was compared with it: {}", expected.file,
                                    expected.outcomes.empty()
                                        ? "it names no problem"
                                        : "it names none of this run's problems"));
  return sentences;
}

void write_expectations(const Report& report, std::ostream& out) {
  // With only one model, the file does not name it, so the file also fits other models.
  std::set<Interned> models;
  for (const std::size_t index : report.candidates) models.insert(report.run.records[index].model);
  json whole = json::object();
  for (const std::size_t index : report.candidates) {
    const Record& record = report.run.records[index];
    if (record.outcome == Outcome::kHarnessFault) continue;
    json& problems = models.size() > 1 ? whole[record.model.str()] : whole;
    json& outcomes = problems[record.problem.str()];
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
