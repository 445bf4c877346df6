// SPDX-License-Identifier: MIT
#include <ostream>

#include "report/compare/compared_text.hpp"
#include "report/format/comparison_formats.hpp"
#include "report/format/json_rows.hpp"

namespace kbench::report {
namespace {

ordered_json measured_json(const Measured& measured) {
  return {
      {"value", number(measured.value)}, {"lo", number(measured.lo)}, {"hi", number(measured.hi)}};
}

ordered_json measured_json(const std::optional<Measured>& measured) {
  return measured ? measured_json(*measured) : ordered_json();
}

ordered_json mean_json(const RatioMean& mean) {
  return {{"value", number(mean.value)}, {"count", mean.count}};
}

ordered_json side_json(const Record& record, const std::optional<Measured>& time) {
  return {{"model", record.model.str()},
          {"sample", record.sample},
          {"candidate", record.candidate},
          {"outcome", to_string(record.outcome)},
          {"cause", record.cause.str()},
          {"device", record.device.str()},
          {"precision", record.precision.str()},
          {"time_ms", measured_json(time)},
          {"limit_share", record.sol ? number(record.sol->share) : ordered_json()}};
}

ordered_json sample_json(const ComparedView& view, const ComparedSample& sample) {
  ordered_json baselines = ordered_json::object();
  for (const ComparedBaseline& shared : sample.baselines)
    baselines[shared.baseline.str()] = {{"base", measured_json(shared.base)},
                                        {"other", measured_json(shared.other)},
                                        {"ratio", measured_json(shared.ratio)}};
  const std::string basis = basis_text(sample);
  return {{"run", view.other().label},
          {"problem", sample.problem.str()},
          {"level", sample.level},
          {"sample", sample.sample},
          {"change", changes()[static_cast<std::size_t>(sample.change)].name},
          {"regression", sample.regression},
          {"reason", sample.reason},
          {"basis", basis.empty() ? ordered_json() : ordered_json(basis)},
          {"base", side_json(view.base_record(sample), sample.base_ms)},
          {"other", side_json(view.other_record(sample), sample.other_ms)},
          {"time_ratio", measured_json(sample.time_ratio)},
          {"speedups", std::move(baselines)}};
}

ordered_json compared_pair_json(const ComparedView& view) {
  const RunComparison& pair = view.pair;
  ordered_json counts = ordered_json::object(), baselines = ordered_json::object();
  for (const ChangeRow& row : changes()) counts[std::string(row.name)] = pair.count(row.change);
  for (std::size_t i = 0; i < pair.baselines.size(); ++i)
    baselines[pair.baselines[i].str()] = mean_json(pair.baseline_means[i]);
  return {{"run", view.other().label},
          {"notes", pair.notes},
          {"in_both", pair.samples.size()},
          {"changes", std::move(counts)},
          {"only_in_base", pair.only_in(true)},
          {"only_in_other", pair.only_in(false)},
          {"regressions", pair.regressions},
          {"geometric_mean", mean_json(pair.mean)},
          {"base_limit_share", mean_json(pair.base_limit)},
          {"other_limit_share", mean_json(pair.other_limit)},
          {"geometric_mean_of_speedups", std::move(baselines)}};
}

ordered_json unmatched_json(const ComparedView& view, const UnmatchedSample& sample) {
  const ComparedRun& run = sample.in_base ? view.base() : view.other();
  return {{"run", view.other().label},
          {"only_in", run.label},
          {"no_verdict_yet", sample.planned},
          {"unchanged", sample.unchanged},
          {"problem", sample.problem.str()},
          {"model", sample.model.str()},
          {"sample", sample.sample},
          {"outcome", to_string(run.run.records[sample.record].outcome)}};
}

}  // namespace

void write_comparison_json(const Comparison& comparison, std::ostream& out) {
  ordered_json runs = ordered_json::array();
  for (std::size_t i = 0; i < comparison.runs.size(); ++i)
    runs.push_back({{"label", comparison.runs[i].label},
                    {"file", comparison.runs[i].name},
                    {"run_summary", comparison.run_summary[i]}});
  write_head(out, {{"comparison", 1},
                   {"regression", number(comparison.options.regression)},
                   {"warnings", comparison.warnings},
                   {"runs", std::move(runs)}});
  // The rows of all runs are in one list, each with its run's label.
  std::vector<std::pair<ComparedView, const ComparedSample*>> samples;
  std::vector<std::pair<ComparedView, const UnmatchedSample*>> unmatched;
  for (const RunComparison& pair : comparison.comparisons) {
    const ComparedView view{comparison, pair};
    for (const ComparedSample& sample : pair.samples)
      if (sample.listed) samples.emplace_back(view, &sample);
    for (const UnmatchedSample& sample : pair.unmatched)
      if (sample.listed) unmatched.emplace_back(view, &sample);
  }
  write_rows(out, "summary", comparison.comparisons, [&](const RunComparison& pair) {
    return compared_pair_json({comparison, pair});
  });
  write_rows(out, "samples", samples,
             [](const auto& row) { return sample_json(row.first, *row.second); });
  write_rows(out, "unmatched", unmatched,
             [](const auto& row) { return unmatched_json(row.first, *row.second); });
  out << "\n}\n";
}

}  // namespace kbench::report
