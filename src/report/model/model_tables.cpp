// SPDX-License-Identifier: MIT
#include "report/model/model_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "record/baseline.hpp"
#include "report/model/tables.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

/// The scored samples of a group that `holds` is true for.
ScoredSampleGroup chosen(const ScoredSampleGroup& group,
                         const std::function<bool(const ScoredSample&)>& holds) {
  ScoredSampleGroup part = group;
  std::erase_if(part.scored_samples,
                [&](const ScoredSample& scored_sample) { return !holds(scored_sample); });
  return part;
}

void add_slice(Report& report, const ScoredSampleGroup& group, const std::string& name,
               const std::function<bool(const ScoredSample&)>& holds) {
  for (SummaryRow& row : summary_rows(report, chosen(group, holds), report.slice_metrics)) {
    if (row.level >= 0) continue;
    row.slice = name;
    report.slices.push_back(std::move(row));
  }
}

void add_slices(Report& report, const ScoredSampleGroup& group) {
  std::set<std::string> tags;
  std::set<CandidateKind> kinds;
  const RunFile& run = report.run;
  for (const ScoredSample& scored_sample : group.scored_samples) {
    for (const std::string& tag : run.manifest[scored_sample.entry].tags) tags.insert(tag);
    if (scored_sample.record != ScoredSample::kNoRecord)
      kinds.insert(run.records[scored_sample.record].kind);
  }
  if (tags.size() > 1)
    for (const std::string& tag : tags)
      add_slice(report, group, "tag " + tag, [&](const ScoredSample& scored_sample) {
        const auto& own = run.manifest[scored_sample.entry].tags;
        return std::ranges::find(own, tag) != own.end();
      });
  if (kinds.size() > 1)
    for (const CandidateKind kind : kinds)
      add_slice(report, group, fmt::format("kind {}", to_string(kind)),
                [&](const ScoredSample& scored_sample) {
                  return scored_sample.record != ScoredSample::kNoRecord &&
                         run.records[scored_sample.record].kind == kind;
                });
}

void add_baselines(Report& report, const ScoredSampleGroup& group) {
  if (report.on_cpu || report.baselines.size() < 2) return;
  const std::vector<Metric> metrics = {metric_from_name("fast_1"), metric_from_name("geomean")};
  const std::string scoring = report.baseline;
  std::set<std::string> measured;
  const auto add = [&](const std::string& name) {
    report.baseline = name;  // summary_rows() takes speedups over it
    for (const SummaryRow& row : summary_rows(report, group, metrics)) {
      if (row.level >= 0 || !row.estimates[1].value) continue;
      measured.insert(name);
      report.over.push_back({.model = row.model,
                             .precision = row.precision,
                             .device = row.device,
                             .judge = row.judge,
                             .baseline = name,
                             .fast_1 = row.estimates[0],
                             .geomean = row.estimates[1]});
    }
  };
  const std::size_t before = report.over.size();
  for (const std::string& name : report.baselines) add(name);
  if (measured.size() > 1) {
    add(kBestBaseline);
  } else {
    report.over.resize(before);  // the summary already has the only baseline
  }
  report.baseline = scoring;
}

ModelPair pair_of(const std::vector<ProblemSamples>& a, const std::vector<ProblemSamples>& b) {
  std::map<Interned, const ProblemSamples*> of_b;
  for (const ProblemSamples& problem : b) of_b.emplace(problem.problem, &problem);
  ModelPair pair;
  std::vector<ProblemSamples> ratios;
  for (const ProblemSamples& problem : a) {
    const auto other = of_b.find(problem.problem);
    if (other == of_b.end() || problem.first_excluded || problem.samples.empty() ||
        other->second->first_excluded || other->second->samples.empty())
      continue;
    const SampleResult& x = problem.samples[0];
    const SampleResult& y = other->second->samples[0];
    ++pair.problems;
    pair.only_a += x.correct && !y.correct ? 1 : 0;
    pair.only_b += y.correct && !x.correct ? 1 : 0;
    if (!x.correct || !y.correct || !x.speedup || !y.speedup || *x.speedup <= 0) continue;
    if (!x.computes || !y.computes) continue;
    SampleResult ratio;
    ratio.correct = true;
    ratio.speedup = *y.speedup / *x.speedup;
    ratios.push_back({.problem = problem.problem, .samples = {ratio}});
  }
  pair.p_value = mcnemar(pair.only_a, pair.only_b);
  const GeometricMean mean = geometric_mean(ratios);
  pair.speed = mean.estimate;
  pair.speed_problems = mean.count;
  return pair;
}

void add_pairs(Report& report, const ScoredSampleGroup& group) {
  const auto models = problems_of_models(report, group);
  const std::size_t count = std::min(models.size(), kMostPaired);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      ModelPair pair = pair_of(models[i].second, models[j].second);
      if (pair.problems == 0) continue;
      pair.a = models[i].first;
      pair.b = models[j].first;
      pair.precision = group.precision;
      pair.device = group.device;
      pair.judge = group.judge;
      if (report.on_cpu) {
        pair.speed = {};
        pair.speed_problems = 0;
      }
      report.pairs.push_back(std::move(pair));
    }
  }
}

std::string with_interval(const std::string& value, const Estimate& estimate) {
  const std::string interval = interval_text(estimate);
  return value + (interval.empty() ? "" : " (" + interval + ")");
}

}  // namespace

double mcnemar(std::int64_t only_a, std::int64_t only_b) {
  const std::int64_t n = only_a + only_b;
  if (n == 0) return 1;
  // By logarithms, because C(n, i) for a thousand problems overflows a double.
  double tail = 0;
  for (std::int64_t i = 0; i <= std::min(only_a, only_b); ++i) {
    const auto x = static_cast<double>(n), k = static_cast<double>(i);
    tail += std::exp(std::lgamma(x + 1) - std::lgamma(k + 1) - std::lgamma(x - k + 1) -
                     x * std::log(2.0));
  }
  return std::min(1.0, 2 * tail);
}

void add_model_tables(Report& report, const std::vector<ScoredSampleGroup>& groups) {
  std::ranges::copy_if(report.metrics, std::back_inserter(report.slice_metrics),
                       [](const Metric& metric) { return metric.row->headline; });
  for (const ScoredSampleGroup& group : groups) {
    add_slices(report, group);
    add_baselines(report, group);
    add_pairs(report, group);
  }
}

std::string over_text(const BaselineRow& row) {
  const Metric geomean = metric_from_name("geomean"), fast = metric_from_name("fast_1");
  return printable(
      fmt::format("{} over {}: fast_1 {}, geomean {}", row.model,
                  row.baseline == kBestBaseline ? "the fastest baseline" : row.baseline,
                  with_interval(value_text(fast, row.fast_1), row.fast_1),
                  with_interval(value_text(geomean, row.geomean), row.geomean)));
}

std::string pair_text(const ModelPair& pair) {
  std::string text = fmt::format(
      "{} against {} on {}: only {} is right on {}, only {} on {} (p = {:.2g})", pair.b, pair.a,
      counted(pair.problems, "problem"), pair.b, pair.only_b, pair.a, pair.only_a, pair.p_value);
  if (pair.speed.value)
    text += fmt::format("; {} is {} as fast on the {} that both have right", pair.b,
                        with_interval(factor(pair.speed.value), pair.speed), pair.speed_problems);
  return printable(text);
}

std::vector<std::string> model_texts(const Report& report) {
  std::vector<std::string> texts;
  for (const BaselineRow& row : report.over) texts.push_back(over_text(row));
  for (const ModelPair& pair : report.pairs) texts.push_back(pair_text(pair));
  if (!report.options.verbose) return texts;
  for (const SummaryRow& row : report.slices) {
    std::string text = fmt::format("{}, {}: {}, {} correct", row.model, row.slice,
                                   counted(row.problems, "problem"), correct_text(row));
    for (std::size_t i = 0; i < report.slice_metrics.size(); ++i)
      if (row.estimates[i].value)
        text += fmt::format(", {} {}", report.slice_metrics[i].name(),
                            value_text(report.slice_metrics[i], row.estimates[i]));
    texts.push_back(printable(text));
  }
  return texts;
}

}  // namespace kbench::report
