// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>
#include <ostream>
#include <unordered_map>

#include "formats.hpp"
#include "json_rows.hpp"
#include "text.hpp"

namespace kbench::report {
namespace {

json estimate_json(const Estimate& estimate) {
  json result = {
      {"value", number(estimate.value)}, {"lo", number(estimate.lo)}, {"hi", number(estimate.hi)}};
  if (!estimate.value) result["why_none"] = estimate.why_none;
  return result;
}

json summary_json(const SummaryRow& row, const std::vector<Metric>& of) {
  json metrics = json::object();
  for (std::size_t i = 0; i < of.size(); ++i)
    metrics[of[i].name()] = estimate_json(row.estimates[i]);
  return {{"model", row.model.str()},
          {"precision", row.precision.str()},
          {"device", row.device.str()},
          {"judge", row.judge.str()},
          {"level", row.level < 0 ? json() : json(row.level)},
          {"slice", row.slice},
          {"without_degenerate", row.without_degenerate},
          {"problems", row.problems},
          {"samples", row.samples},
          {"correct", row.correct},
          {"timed", row.timed},
          {"metrics", std::move(metrics)}};
}

json candidate_json(const Report& report, const Record& record) {
  json first_wrong, max_abs_error, max_rel_error;
  if (!record.correctness.empty()) {
    const TrialResult& trial = record.correctness[0];
    max_abs_error = number(trial.max_abs_error);
    max_rel_error = number(trial.max_rel_error);
    if (trial.first_wrong) {
      first_wrong = {{"output", trial.first_wrong->output},
                     {"index", trial.first_wrong->index},
                     {"expected", trial.first_wrong->expected},
                     {"got", trial.first_wrong->got}};
    }
  }
  json speedup;
  if (const Speedup* over = speedup_over(record, report.baseline)) {
    const std::string_view relation = relation_of(*over);
    speedup = {{"value", number(over->value)},
               {"lo", number(over->lo)},
               {"hi", number(over->hi)},
               {"relation", relation.empty() ? json() : json(relation)}};
  }
  json findings = json::array();
  for (const Finding& finding : record.findings) findings.emplace_back(to_json(finding));
  json profile, estimate;
  for (const KernelProfile& kernel : record.profile) profile.emplace_back(to_json(kernel));
  if (record.estimate) {
    estimate = {{"gpu", record.estimate->gpu},
                {"candidate_ms", number(record.estimate->candidate_ms)},
                {"reference_ms", number(record.estimate->reference_ms)},
                {"ratio", number(record.estimate->ratio())}};
  }
  return {{"model", record.model.str()},
          {"problem", record.problem.str()},
          {"level", record.level},
          {"sample", record.sample},
          {"findings", std::move(findings)},
          {"findings_count", record.findings_count},
          {"profile", std::move(profile)},
          {"estimate", std::move(estimate)},
          {"candidate", record.candidate},
          {"precision", record.precision.str()},
          {"device", record.device.str()},
          {"judge", record.judge.str()},
          {"sizes", record.sizes.empty() ? json::object() : json::parse(record.sizes.str())},
          {"shrunk", record.shrunk ? json(to_json(*record.shrunk)) : json()},
          {"outcome", to_string(record.outcome)},
          {"stage", to_string(record.stage)},
          {"cause", record.cause.str()},
          {"message", record.message},
          {"max_abs_error", std::move(max_abs_error)},
          {"max_rel_error", std::move(max_rel_error)},
          {"first_wrong", std::move(first_wrong)},
          {"time_ms", number(time_ms(record, "candidate"))},
          {"baseline_ms", number(time_ms(record, report.baseline))},
          {"speedup", std::move(speedup)},
          {"sol", record.sol ? json(to_json(*record.sol)) : json()},
          {"told_ms", number(told_ms(record))},
          {"trust", record.timing ? json(record.timing->trust.str()) : json()},
          {"class", record.kernel_class.str()},
          {"flags", record.flags}};
}

json over_json(const BaselineRow& row) {
  return {{"model", row.model.str()},
          {"precision", row.precision.str()},
          {"device", row.device.str()},
          {"judge", row.judge.str()},
          {"baseline", row.baseline},
          {"fast_1", estimate_json(row.fast_1)},
          {"geomean", estimate_json(row.geomean)}};
}

json pair_json(const ModelPair& pair) {
  return {{"a", pair.a.str()},
          {"b", pair.b.str()},
          {"precision", pair.precision.str()},
          {"device", pair.device.str()},
          {"judge", pair.judge.str()},
          {"problems", pair.problems},
          {"only_a", pair.only_a},
          {"only_b", pair.only_b},
          {"p_value", number(pair.p_value)},
          {"speed", estimate_json(pair.speed)},
          {"speed_problems", pair.speed_problems}};
}

json degenerate_json(const DegenerateProblem& problem) {
  json answers = json::object();
  for (const auto& [name, answer] : problem.answers)
    answers[name] = {{"would_be_caught_by",
                      answer.would_be_caught_by.empty() ? json() : json(answer.would_be_caught_by)},
                     {"tolerance", number(answer.tolerance)}};
  return {{"problem", problem.problem.str()},
          {"judge", problem.check.judge.str()},
          {"precision", problem.check.precision.str()},
          {"answers", std::move(answers)}};
}

}  // namespace

void write_json(const Report& report, std::ostream& out) {
  json facts = json::object();
  for (const auto& [label, text] : report.facts) facts[label] = text;
  json names = json::array();
  for (const Metric& metric : report.metrics) names.push_back(metric.name());
  const json head = {{"report", 1},
                     {"complete", report.complete},
                     {"finished", report.finished},
                     {"planned", report.planned},
                     {"on_cpu", report.on_cpu},
                     {"baseline", report.baseline.empty() ? json() : json(report.baseline)},
                     {"warnings", report.warnings},
                     {"facts", std::move(facts)},
                     {"metrics", std::move(names)}};
  write_head(out, head);

  std::unordered_map<std::size_t, std::size_t> places;
  for (const std::size_t index : report.candidates) places.emplace(index, places.size());
  write_rows(out, "summary", report.summary,
             [&](const SummaryRow& row) { return summary_json(row, report.metrics); });
  write_rows(out, "slices", report.slices,
             [&](const SummaryRow& row) { return summary_json(row, report.slice_metrics); });
  write_rows(out, "baselines", report.over, over_json);
  write_rows(out, "pairs", report.pairs, pair_json);
  if (report.audited) write_rows(out, "degenerate", report.degenerate, degenerate_json);
  json exclusions = json::array();
  for (const std::size_t index : report.exclusions)
    if (const auto place = places.find(index); place != places.end())
      exclusions.push_back(place->second);
  out << ",\n\"exclusions\": " << exclusions.dump();
  write_rows(out, "failures", report.failures, [&](const FailureGroup& group) {
    json members = json::array();
    for (const std::size_t index : group.records) members.push_back(places.at(index));
    return json{{"judge", group.judge.str()},
                {"outcome", to_string(group.outcome)},
                {"cause", group.cause.str()},
                {"count", group.records.size()},
                {"candidates", std::move(members)}};
  });
  write_rows(out, "candidates", report.candidates,
             [&](std::size_t index) { return candidate_json(report, report.run.records[index]); });
  out << "\n}\n";
}

}  // namespace kbench::report
