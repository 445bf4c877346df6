// SPDX-License-Identifier: MIT
#include "report/model/scored_samples.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/text.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

constexpr std::int64_t kWorthAThread = 1000;  // samples in a row of the summary

/// Name → place in natural order. Sorting 100,000 entries then compares numbers instead of names.
std::unordered_map<Interned, std::size_t> ranks(const std::set<Interned>& names) {
  std::vector<Interned> order(names.begin(), names.end());
  std::ranges::stable_sort(order,
                           [](const Interned& a, const Interned& b) { return natural_less(a, b); });
  std::unordered_map<Interned, std::size_t> places;
  for (std::size_t i = 0; i < order.size(); ++i) places.emplace(order[i], i);
  return places;
}

/// Indices of the manifest's entries, ordered by model, problem and sample.
std::vector<std::size_t> ordered_manifest(const std::vector<ManifestEntry>& manifest) {
  std::set<Interned> models, problems;
  for (const ManifestEntry& entry : manifest) {
    models.insert(entry.model);
    problems.insert(entry.problem);
  }
  const auto model_rank = ranks(models);
  const auto problem_rank = ranks(problems);
  std::vector<std::tuple<std::size_t, std::size_t, int, std::size_t>> keys;
  keys.reserve(manifest.size());
  for (std::size_t i = 0; i < manifest.size(); ++i) {
    keys.emplace_back(model_rank.at(manifest[i].model), problem_rank.at(manifest[i].problem),
                      manifest[i].sample, i);
  }
  std::ranges::sort(keys);
  std::vector<std::size_t> order;
  order.reserve(keys.size());
  for (const auto& key : keys) order.push_back(std::get<3>(key));
  return order;
}

/// Identifies a sample at one precision, on one device, by one judge.
struct SampleKey {
  Interned model, problem, precision, device, judge;
  int sample = 0;
  bool operator==(const SampleKey&) const = default;
};

struct SampleKeyHash {
  std::size_t operator()(const SampleKey& key) const {
    std::size_t seed = static_cast<std::size_t>(key.sample);
    for (const Interned& text : {key.model, key.problem, key.precision, key.device, key.judge}) {
      seed = seed * 0x9e3779b97f4a7c15ull + (std::hash<Interned>()(text) >> 4);
    }
    return seed;
  }
};

using LatestRecords = std::unordered_map<SampleKey, std::size_t, SampleKeyHash>;

LatestRecords latest_records(const std::vector<Record>& records) {
  LatestRecords latest;
  latest.reserve(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& record = records[i];
    const auto [found, inserted] =
        latest.try_emplace({record.model, record.problem, record.precision, record.device,
                            record.judge, record.sample},
                           i);
    if (!inserted && is_verdict(record)) found->second = i;
  }
  return latest;
}

SampleResult sample_result(const Record& record, const std::string& baseline) {
  SampleResult result;
  result.correct = record.outcome == Outcome::kCorrect;
  result.computes = !computes_nothing(record);
  result.allclose_at = record.allclose_at;
  // A candidate without outputs, that is not repeatable, or with wrong outputs when timed, is not
  // close at any tolerance; its trials do not matter. Without allclose_at from the judge (as from
  // KernelBench) it stays unknown.
  const bool is_compared =
      result.correct || (record.outcome == Outcome::kMismatch && record.stage != Stage::kTiming);
  if (!is_compared) result.allclose_at = std::numeric_limits<double>::infinity();
  result.own = record.kernel_class == kUnknownClass ? std::nullopt
                                                    : std::optional(record.kernel_class == "own");
  if (const Speedup* speedup = speedup_over(record, baseline); speedup != nullptr) {
    result.speedup = speedup->value;
    if (std::isfinite(speedup->lo)) result.speedup_lo = speedup->lo;
  }
  return result;
}

/// One row of the summary over some problems of a model.
SummaryRow summary_row(const Report& report, std::span<const Metric> metrics,
                       std::span<const ProblemSamples> problems) {
  SummaryRow row;
  for (const ProblemSamples& problem : problems) {
    row.no_verdict += problem.no_verdict;
    if (problem.samples.empty()) continue;
    const SampleResult& first = problem.samples[0];
    row.timed +=
        !problem.first_excluded && first.correct && first.computes && first.speedup ? 1 : 0;
    ++row.problems;
    row.samples += static_cast<std::int64_t>(problem.samples.size());
    row.correct += std::ranges::count(problem.samples, true, &SampleResult::correct);
  }
  const std::string why_no_speedup = report.on_cpu          ? "no GPU"
                                     : is_untimed(problems) ? "no times were taken"
                                                            : "";
  // Each interval takes a bootstrap of a few milliseconds for thousands of samples.
  const auto policy = row.samples > kWorthAThread ? std::launch::async : std::launch::deferred;
  std::vector<std::future<Estimate>> estimates;
  for (const Metric& metric : metrics) {
    std::string why_none = metric.needs_speedup() ? why_no_speedup : "";
    if (why_none.empty() && row.samples == 0 && row.no_verdict > 0) why_none = "no verdict yet";
    estimates.push_back(std::async(policy, [&, why_none = std::move(why_none)] {
      return why_none.empty() ? metric.compute(problems)
                              : Estimate{.value = {}, .lo = {}, .hi = {}, .why_none = why_none};
    }));
  }
  for (auto& estimate : estimates) row.estimates.push_back(estimate.get());
  if (report.on_cpu) row.timed = 0;
  return row;
}

/// One model's problems, each with its level.
using ModelProblems = std::vector<std::pair<int, ProblemSamples>>;

/// Takes the scored samples of one problem of a model from `at` on, and moves `at` past them.
ProblemSamples take_problem(const Report& report, const ScoredSampleGroup& group,
                            NoVerdict no_verdict, std::size_t& at) {
  const RunFile& run = report.run;
  const std::vector<ScoredSample>& scored_samples = group.scored_samples;
  const ManifestEntry& first = run.manifest[scored_samples[at].entry];
  ProblemSamples problem;
  problem.problem = first.problem;
  for (bool is_first = true; at < scored_samples.size(); ++at, is_first = false) {
    const ManifestEntry& entry = run.manifest[scored_samples[at].entry];
    if (entry.model != first.model || entry.problem != first.problem) break;
    const std::size_t index = scored_samples[at].record;
    const Record* record = index == ScoredSample::kNoRecord ? nullptr : &run.records[index];
    // A harness fault counts as wrong: a candidate may have provoked it.
    const bool has_verdict = record != nullptr;
    const bool left_out = record == nullptr ? is_left_out(report, group, first.problem)
                                            : is_left_out(report, *record);
    if (!left_out && !has_verdict) ++problem.no_verdict;
    if (left_out || (!has_verdict && no_verdict == NoVerdict::kLeftOut)) {
      problem.first_excluded = problem.first_excluded || is_first;
    } else if (!has_verdict) {
      problem.samples.emplace_back().allclose_at = std::numeric_limits<double>::infinity();
    } else {
      problem.samples.push_back(sample_result(*record, report.baseline));
    }
  }
  return problem;
}

/// Adds the rows over some problems of a model to `rows`. `named`: their model, precision, device,
/// judge and without_degenerate.
void add_rows(const Report& report, std::span<const Metric> metrics, const SummaryRow& named,
              const ModelProblems& problems, std::vector<SummaryRow>& rows) {
  std::vector<ProblemSamples> all;
  std::map<int, std::vector<ProblemSamples>> levels;
  for (const auto& [level, problem] : problems) {
    levels[level].push_back(problem);
    all.push_back(problem);
  }
  const auto add = [&](int level, std::span<const ProblemSamples> chosen) {
    SummaryRow& row = rows.emplace_back(summary_row(report, metrics, chosen));
    row.model = named.model;
    row.precision = named.precision;
    row.device = named.device;
    row.judge = named.judge;
    row.without_degenerate = named.without_degenerate;
    row.level = level;
  };
  add(-1, all);
  if (levels.size() < 2) return;
  for (const auto& [level, chosen] : levels) add(level, chosen);
}

}  // namespace

std::vector<ScoredSampleGroup> scored_sample_groups(const RunFile& run) {
  std::set<std::tuple<Interned, Interned, Interned>> kinds;
  for (const Record& record : run.records)
    kinds.emplace(record.device, record.precision, record.judge);
  if (kinds.empty()) kinds.emplace();
  const std::vector<std::size_t> order = ordered_manifest(run.manifest);
  const LatestRecords latest = latest_records(run.records);
  std::vector<ScoredSampleGroup> groups;
  for (const auto& [device, precision, judge] : kinds) {
    ScoredSampleGroup& group = groups.emplace_back();
    group.device = device;
    group.precision = precision;
    group.judge = judge;
    group.scored_samples.reserve(order.size());
    for (const std::size_t index : order) {
      const ManifestEntry& entry = run.manifest[index];
      const auto found =
          latest.find({entry.model, entry.problem, precision, device, judge, entry.sample});
      group.scored_samples.push_back(
          {.entry = index,
           .record = found == latest.end() ? ScoredSample::kNoRecord : found->second});
    }
  }
  return groups;
}

bool is_untimed(std::span<const ProblemSamples> problems) {
  bool any_correct = false;
  for (const ProblemSamples& problem : problems)
    for (const SampleResult& sample : problem.samples) {
      if (sample.speedup) return false;
      any_correct = any_correct || sample.correct;
    }
  return any_correct;
}

bool is_verdict(const Record& record) { return record.outcome != Outcome::kHarnessFault; }

bool is_exclusion(const Record& record) {
  // KernelBench counts a failed problem as wrong for every model.
  return record.outcome == Outcome::kProblemFailure && record.judge != kCompatJudge;
}

const std::vector<std::string>* passing_answers(const Report& report, const Record& record) {
  const auto found = report.unearned.find(
      {record.problem, record.problem_hash, record.precision, record.device, record.judge});
  return found == report.unearned.end() ? nullptr : &found->second;
}

bool is_left_out(const Report& report, const Record& record) {
  return is_exclusion(record) ||
         (!report.options.include_degenerate && passing_answers(report, record) != nullptr);
}

bool is_left_out(const Report& report, const ScoredSampleGroup& group, const Interned& problem) {
  return !report.options.include_degenerate &&
         std::ranges::any_of(report.unearned, [&](const auto& unearned) {
           const CheckedProblem& checked = unearned.first;
           return checked.problem == problem && checked.precision == group.precision &&
                  checked.device == group.device && checked.judge == group.judge;
         });
}

const Speedup* earned_speedup(const Report& report, const Record& record) {
  if (report.on_cpu || computes_nothing(record) || is_left_out(report, record)) return nullptr;
  return speedup_over(record, report.baseline);
}

void find_unearned(Report& report) {
  for (const Record& record : report.run.records) {
    if (!record.degenerate_problem || record.degenerate_problem->empty()) continue;
    report.unearned.try_emplace({.problem = record.problem,
                                 .problem_hash = record.problem_hash,
                                 .precision = record.precision,
                                 .device = record.device,
                                 .judge = record.judge},
                                *record.degenerate_problem);
  }
}

std::vector<SummaryRow> summary_rows(const Report& report, const ScoredSampleGroup& group,
                                     std::span<const Metric> metrics,
                                     const std::set<Interned>* degenerate, NoVerdict no_verdict) {
  const RunFile& run = report.run;
  const auto& scored_samples = group.scored_samples;
  std::vector<SummaryRow> rows;
  for (std::size_t at = 0; at < scored_samples.size();) {
    SummaryRow named;
    named.model = run.manifest[scored_samples[at].entry].model;
    named.precision = group.precision;
    named.device = group.device;
    named.judge = group.judge;
    ModelProblems problems;
    while (at < scored_samples.size() &&
           run.manifest[scored_samples[at].entry].model == named.model) {
      const int level = run.manifest[scored_samples[at].entry].level;
      problems.emplace_back(level, take_problem(report, group, no_verdict, at));
    }
    add_rows(report, metrics, named, problems, rows);
    if (degenerate == nullptr) continue;
    std::erase_if(problems, [&](const auto& problem) {
      return degenerate->contains(problem.second.problem);
    });
    named.without_degenerate = true;
    add_rows(report, metrics, named, problems, rows);
  }
  return rows;
}

std::vector<std::pair<Interned, std::vector<ProblemSamples>>> problems_of_models(
    const Report& report, const ScoredSampleGroup& group) {
  std::vector<std::pair<Interned, std::vector<ProblemSamples>>> models;
  for (std::size_t at = 0; at < group.scored_samples.size();) {
    const Interned& model = report.run.manifest[group.scored_samples[at].entry].model;
    if (models.empty() || models.back().first != model) models.emplace_back().first = model;
    models.back().second.push_back(take_problem(report, group, NoVerdict::kLeftOut, at));
  }
  return models;
}

}  // namespace kbench::report
