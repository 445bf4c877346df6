// SPDX-License-Identifier: MIT
#include "report/compare/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "kbench/error.hpp"
#include "report/compare/compared_speed.hpp"
#include "report/compare/compared_summary.hpp"
#include "report/compare/sample_pairs.hpp"
#include "report/model/exclusions.hpp"
#include "report/model/scored_samples.hpp"
#include "report/text/text.hpp"

namespace kbench {
namespace {

using report::JudgedSample;
using report::printable;
using report::RunSamples;
using report::SampleKey;

constexpr std::array<ChangeRow, kChanges> kChangeRows = {{
    {Change::kFaster, "faster", "faster"},
    {Change::kSlower, "slower", "slower"},
    {Change::kSame, "same", "same"},
    {Change::kAmbiguous, "ambiguous", "ambiguous"},
    {Change::kBothCorrect, "both_correct", "both correct"},
    {Change::kFixed, "fixed", "fixed"},
    {Change::kBroken, "broken", "broken"},
    {Change::kBothWrong, "both_wrong", "both wrong"},
    {Change::kNotComparable, "not_comparable", "not comparable"},
}};

std::set<Interned> models_of(const RunFile& run) {
  std::set<Interned> models;
  for (const ManifestEntry& entry : run.manifest) models.insert(entry.model);
  for (const Record& record : run.records) models.insert(record.model);
  return models;
}

/// The reason why the two times must not be compared: trivial answers pass the problem's check, or
/// a candidate computes nothing. Else empty.
std::string unearned(const Record& a, const Record& b) {
  for (const Record* record : {&a, &b}) {
    if (record->degenerate_problem && !record->degenerate_problem->empty())
      return fmt::format("degenerate problem: {}",
                         report::degenerate_message(*record->degenerate_problem));
    if (computes_nothing(*record)) return "a candidate computes nothing";
  }
  return {};
}

/// The reason why the records cannot be compared: their tasks differ, or one has no verdict on the
/// candidate. Else empty.
std::string incomparable(const Record& a, const Record& b) {
  const auto differ = [](std::string_view what, const Interned& one, const Interned& other) {
    return printable(fmt::format("{} {} and {}", what, one, other));
  };
  if (a.precision != b.precision) return differ("precision", a.precision, b.precision);
  if (a.judge != b.judge) return differ("judged by", a.judge, b.judge);
  if (a.sizes != b.sizes) {
    const auto named = [](const Record& record) {
      return record.sizes.empty() ? std::string("of the file") : report::sizes_text(record);
    };
    return fmt::format("sizes {} and {}", named(a), named(b));
  }
  if (a.problem_hash != b.problem_hash) return "two versions of the problem";
  for (const Record* record : {&a, &b})
    if (!outcomes()[static_cast<std::size_t>(record->outcome)].of_candidate ||
        report::is_exclusion(*record))
      return "no verdict on the candidate in one of the runs";
  return {};
}

RatioMean mean_of(const std::vector<double>& ratios) {
  RatioMean mean{.value = {}, .count = static_cast<std::int64_t>(ratios.size())};
  if (ratios.empty()) return mean;
  double sum = 0;
  for (const double ratio : ratios) sum += std::log(ratio);
  mean.value = std::exp(sum / static_cast<double>(ratios.size()));
  return mean;
}

/// Joins one run with the base.
class Join {
 public:
  Join(const Comparison& comparison, std::size_t other)
      : base_(comparison.runs[0].run),
        other_(comparison.runs[other].run),
        options_(comparison.options),
        untimed_(report::unlike_runs(base_, other_)) {
    result_.other = other;
    const ComparedRun& a = comparison.runs[0];
    const ComparedRun& b = comparison.runs[other];
    result_.notes = report::pair_notes(a, b);
    if (!options_.select.empty())
      result_.notes.push_back(printable(fmt::format(
          "--select {}{}", options_.select.text(),
          options_.select.lists_some() ? "; the summary also counts samples that are not listed"
                                       : "")));
    const auto of_base = models_of(base_), of_other = models_of(other_);
    if (of_base.size() != 1 || of_other.size() != 1 || of_base == of_other) return;
    renamed_ = {*of_other.begin(), *of_base.begin()};
    result_.notes.push_back(
        printable(fmt::format("the only model of {}, {}, is compared with the only one of {}, {}",
                              a.label, renamed_->second, b.label, renamed_->first)));
  }

  RunComparison result() {
    const RunSamples of_base(base_, nullptr), of_other(other_, renamed_ ? &*renamed_ : nullptr);
    const auto counterparts = report::pair_samples(of_base, of_other);
    std::unordered_map<const JudgedSample*, std::vector<std::size_t>> rest;
    auto counterpart = counterparts.begin();
    for (const JudgedSample& sample : of_base.verdicts()) {
      if (const JudgedSample* other = *counterpart++) {
        join(sample, *other, rest[other]);
        continue;
      }
      const bool planned = of_other.awaits(sample.first);
      for (const std::size_t record : sample.second)
        unmatched(sample.first, record, true, planned,
                  of_other.has_unchanged(base_.records[record].candidate));
    }
    for (const JudgedSample& sample : of_other.verdicts()) {
      const auto paired = rest.find(&sample);
      const bool is_paired = paired != rest.end();
      for (const std::size_t record : is_paired ? paired->second : sample.second)
        unmatched(sample.first, record, false, is_paired || of_base.awaits(sample.first));
    }
    summarize();
    return std::move(result_);
  }

 private:
  /// Pairs the records of one sample: first those with the same check and device, then those with
  /// the same check, then any. Records of the other run without a counterpart stay in `rest`.
  void join(const JudgedSample& sample, const JudgedSample& other, std::vector<std::size_t>& rest) {
    const SampleKey& key = sample.first;
    std::vector<std::size_t> records = sample.second;
    rest = other.second;
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (const int unlike : {0, 1, 2}) {
      std::erase_if(records, [&](std::size_t record) {
        const Record& a = base_.records[record];
        const auto found = std::ranges::find_if(rest, [&](std::size_t candidate) {
          const Record& b = other_.records[candidate];
          const bool same_check = a.precision == b.precision && a.judge == b.judge;
          return unlike == 2 || (same_check && (unlike == 1 || a.device == b.device));
        });
        if (found == rest.end()) return false;
        pairs.emplace_back(record, *found);
        rest.erase(found);
        return true;
      });
    }
    std::ranges::sort(pairs);
    for (const auto& [a, b] : pairs) compare(key, a, b);
    for (const std::size_t record : records) unmatched(key, record, true, true);
  }

  void unmatched(const SampleKey& key, std::size_t record, bool in_base, bool planned,
                 bool unchanged = false) {
    result_.unmatched.push_back(
        {.in_base = in_base,
         .planned = planned && !unchanged,
         .unchanged = unchanged,
         .problem = key.problem,
         .model = (in_base ? base_ : other_).records[record].model,
         .sample = key.sample,
         .record = record,
         .listed = options_.select.lists((in_base ? base_ : other_).records[record])});
  }

  void compare(const SampleKey& key, std::size_t base_record, std::size_t other_record) {
    const Record& a = base_.records[base_record];
    const Record& b = other_.records[other_record];
    ComparedSample sample;
    sample.problem = key.problem;
    sample.level = a.level;
    sample.base_model = a.model;
    sample.other_model = b.model;
    sample.sample = key.sample;
    sample.other_sample = b.sample;
    sample.base_record = base_record;
    sample.other_record = other_record;
    sample.base_ms = report::candidate_time(a);
    sample.other_ms = report::candidate_time(b);
    sample.listed = options_.select.lists(a) || options_.select.lists(b);
    sample.reason = incomparable(a, b);
    const bool was = a.outcome == Outcome::kCorrect, is = b.outcome == Outcome::kCorrect;
    if (sample.reason.empty()) {
      if (was && is) {
        const std::string reason = unearned(a, b);
        report::compare_speed(sample, a, b, reason.empty() ? untimed_ : reason);
      } else {
        sample.change = is ? Change::kFixed : was ? Change::kBroken : Change::kBothWrong;
      }
    }
    sample.regression = sample.change == Change::kBroken ||
                        (sample.change == Change::kSlower && sample.basis == Basis::kTimes &&
                         1 / sample.decisive()->value - 1 > options_.regression);
    result_.samples.push_back(std::move(sample));
  }

  void summarize() {
    std::vector<double> decisive;
    std::map<Interned, std::vector<double>> by_baseline;
    std::vector<double> base_limit, other_limit;
    for (const ComparedSample& sample : result_.samples) {
      ++result_.counts[static_cast<std::size_t>(sample.change)];
      result_.regressions += sample.regression ? 1 : 0;
      if (const Measured* ratio = sample.decisive()) decisive.push_back(ratio->value);
      const Record& base = base_.records[sample.base_record];
      const Record& other = other_.records[sample.other_record];
      if (sample.change != Change::kNotComparable && unearned(base, other).empty() && base.sol &&
          other.sol && base.sol->share.value_or(0) > 0 && other.sol->share.value_or(0) > 0) {
        base_limit.push_back(*base.sol->share);
        other_limit.push_back(*other.sol->share);
      }
      for (const ComparedBaseline& shared : sample.baselines) {
        auto& ratios = by_baseline[shared.baseline];
        if (ratios.empty()) result_.baselines.push_back(shared.baseline);
        ratios.push_back(shared.ratio.value);
      }
    }
    result_.mean = mean_of(decisive);
    result_.base_limit = mean_of(base_limit);
    result_.other_limit = mean_of(other_limit);
    for (const Interned& baseline : result_.baselines)
      result_.baseline_means.push_back(mean_of(by_baseline[baseline]));
    if (result_.samples.empty())
      result_.notes.emplace_back("the two runs have no sample in common");
  }

  const RunFile& base_;
  const RunFile& other_;
  const ComparisonOptions& options_;
  const std::string untimed_;
  /// The only model of the other run, and the base's only one, if their names differ.
  std::optional<std::pair<Interned, Interned>> renamed_;
  RunComparison result_;
};

/// A, …, Z, AA, AB, ….
std::string label(std::size_t place) {
  constexpr std::size_t kLetters = 26;
  std::string text;
  for (++place; place > 0; place = (place - 1) / kLetters)
    text.insert(text.begin(), static_cast<char>('A' + (place - 1) % kLetters));
  return text;
}

}  // namespace

std::span<const ChangeRow> changes() { return kChangeRows; }

const Measured* ComparedSample::decisive() const {
  if (basis == Basis::kTimes && time_ratio) return &*time_ratio;
  if (basis == Basis::kSpeedup && !baselines.empty()) return &baselines[0].ratio;
  return nullptr;
}

std::int64_t RunComparison::only_in(bool base) const {
  return std::ranges::count(unmatched, base, &UnmatchedSample::in_base);
}

Comparison build_comparison(std::vector<ComparedRun> runs, ComparisonOptions options) {
  if (runs.size() < 2)
    throw UsageError("there is nothing to compare with: name two run files or more");
  Comparison comparison;
  comparison.options = std::move(options);
  comparison.runs = std::move(runs);
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    ComparedRun& run = comparison.runs[i];
    run.label = label(i);
    comparison.options.select.choose_from(run.run, run.name);
    comparison.run_summary.push_back(report::run_summary(run.run));
    for (const std::string& warning : report::run_warnings(run.run))
      comparison.warnings.push_back(fmt::format("{}: {}", run.label, warning));
  }
  for (std::size_t i = 1; i < comparison.runs.size(); ++i)
    comparison.comparisons.push_back(Join(comparison, i).result());
  return comparison;
}

}  // namespace kbench
