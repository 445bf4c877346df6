// SPDX-License-Identifier: MIT
#include "report/model/charts.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "report/model/scored_samples.hpp"
#include "report/model/tables.hpp"

namespace kbench::report {
namespace {

constexpr double kMostP = 3;
constexpr int kEachK = 10;  // every k up to here; then each k is 5/4 of the previous one

/// The least number of samples over all models and problems of the run.
int fewest_samples(const Report& report) {
  std::map<std::pair<Interned, Interned>, int> samples;
  for (const ManifestEntry& entry : report.run.manifest) ++samples[{entry.model, entry.problem}];
  int fewest = samples.empty() ? 0 : std::numeric_limits<int>::max();
  for (const auto& [key, count] : samples) fewest = std::min(fewest, count);
  return fewest;
}

std::vector<int> all_k(int most) {
  std::vector<int> k;
  for (int at = 1; at <= most; at = at < kEachK ? at + 1 : at + at / 4) k.push_back(at);
  if (!k.empty() && k.back() != most) k.push_back(most);
  return k;
}

/// Adds the curve of the metrics with this pattern, in the order of `metrics`.
void add_curve(const Report& report, const SummaryRow& row, const std::vector<Metric>& metrics,
               std::string_view pattern, std::string_view name, std::vector<Curve>& curves) {
  Curve curve{.metric = std::string(name), .name = row_name(report, row), .x = {}, .values = {}};
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (metrics[i].row->pattern != pattern || !row.estimates[i].value) continue;
    curve.x.push_back(metrics[i].k);
    curve.values.push_back(row.estimates[i]);
  }
  if (!curve.x.empty()) curves.push_back(std::move(curve));
}

/// Adds each model's curve of fast_p over p.
void add_fast_p(const Report& report, const ScoredSampleGroup& group, std::vector<Curve>& curves) {
  for (const auto& [model, problems] : problems_of_models(report, group)) {
    if (is_untimed(problems)) continue;
    SummaryRow row;
    row.model = model;
    row.precision = group.precision;
    row.device = group.device;
    row.judge = group.judge;
    Curve curve{.metric = "fast_p", .name = row_name(report, row), .x = {}, .values = {}};
    for (FastPStep& step : fast_p_steps(problems, kMostP)) {
      curve.x.push_back(step.p);
      curve.values.push_back(std::move(step.value));
    }
    if (!curve.x.empty()) curves.push_back(std::move(curve));
  }
}

}  // namespace

Charts build_charts(const Report& report) {
  std::vector<Metric> metrics;
  const Metric pass = metric_from_name("pass@1"), fast_at = metric_from_name("fast_1@1");
  for (const int k : all_k(fewest_samples(report))) {
    metrics.push_back({.row = pass.row, .k = k});
    if (!report.on_cpu) metrics.push_back({.row = fast_at.row, .p = 1, .k = k});
  }
  Charts charts;
  for (const ScoredSampleGroup& group : scored_sample_groups(report.run)) {
    if (!report.on_cpu) add_fast_p(report, group, charts.fast_p);
    for (const SummaryRow& row : summary_rows(report, group, metrics)) {
      if (row.level >= 0) continue;
      add_curve(report, row, metrics, pass.row->pattern, "pass@k", charts.at_k);
      add_curve(report, row, metrics, fast_at.row->pattern, "fast_1@k", charts.at_k);
    }
  }
  return charts;
}

}  // namespace kbench::report
