// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>
#include <ostream>
#include <unordered_map>

#include "record/run_details.hpp"
#include "report/format/formats.hpp"
#include "report/format/json_rows.hpp"
#include "report/format/json_text.hpp"
#include "report/model/scored_samples.hpp"
#include "report/model/unsupported.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

ordered_json estimate_json(const Estimate& estimate) {
  ordered_json result = {
      {"value", number(estimate.value)}, {"lo", number(estimate.lo)}, {"hi", number(estimate.hi)}};
  if (!estimate.value) result["why_none"] = estimate.why_none;
  return result;
}

ordered_json summary_row_json(const Report& report, const SummaryRow& row,
                              const std::vector<Metric>& of) {
  ordered_json metrics = ordered_json::object();
  for (std::size_t i = 0; i < of.size(); ++i)
    metrics[of[i].name()] = estimate_json(row.estimates[i]);
  return {
      {"model", row.model.str()},
      {"precision", row.precision.str()},
      {"device", row.device.str()},
      {"judge", row.judge.str()},
      {"level", row.level < 0 ? ordered_json() : ordered_json(row.level)},
      {"slice", row.slice},
      {"without_degenerate", row.without_degenerate},
      {"rank", row.rank == 0 ? ordered_json() : ordered_json(row.rank)},
      {"problems", row.problems},
      {"samples", row.samples},
      {"no_verdict", row.no_verdict},
      {"judged", row.slice.empty() ? ordered_json(judged_samples(report, row)) : ordered_json()},
      {"correct", row.correct},
      {"timed", row.timed},
      {"metrics", std::move(metrics)}};
}

JsonText speedup_text(const Speedup& over) {
  const std::string_view relation = relation_of(over);
  return JsonText()
      .field("value", over.value)
      .field("lo", over.lo)
      .field("hi", over.hi)
      .field("relation", relation.empty() ? std::nullopt : std::optional(relation));
}

JsonText estimate_object(const TimeEstimate& estimate) {
  return JsonText()
      .field("gpu", estimate.gpu)
      .field("candidate_ms", estimate.candidate_ms)
      .field("reference_ms", estimate.reference_ms)
      .field("ratio", estimate.ratio());
}

JsonText wrong_text(const WrongElement& wrong) {
  return JsonText()
      .field("output", wrong.output)
      .field("index", wrong.index)
      .field("expected", wrong.expected)
      .field("got", wrong.got);
}

/// `to_text` of the value; none for null.
template <typename T, typename ToText>
auto maybe(const T* value, ToText to_text) {
  return value != nullptr ? std::optional(to_text(*value)) : std::nullopt;
}
template <typename T>
const T* pointer(const std::optional<T>& value) {
  return value ? &*value : nullptr;
}

JsonText sol_text(const SpeedOfLight& sol) {
  JsonText flops;
  for (std::size_t type = 0; type < kFlopTypes; ++type)
    if (sol.work.flops[type] > 0)
      flops.field(to_string(static_cast<FlopType>(type)), sol.work.flops[type]);
  JsonText text;
  text.field("flops", flops)
      .field("limit_ms", sol.limit_ms)
      .field("limited_by",
             sol.limited_by.empty() ? std::nullopt : std::optional(sol.limited_by.str()));
  if (sol.plausible_ms) text.field("plausible_ms", sol.plausible_ms);
  text.field("read_bytes", sol.work.read_bytes).field("share", sol.share);
  if (sol.share_measured) text.field("share_measured", sol.share_measured);
  return text.field("written_bytes", sol.work.written_bytes);
}

JsonText reduced_sizes_object(const ReducedSizes& reduced_sizes) {
  return JsonText()
      .field("bytes", std::llround(reduced_sizes.bytes))
      .field("flops", std::llround(reduced_sizes.flops))
      .field("full_bytes", std::llround(reduced_sizes.full_bytes))
      .field("full_flops", std::llround(reduced_sizes.full_flops))
      .field("within", reduced_sizes.within);
}

/// Fields that are written exactly as in the record's line of the run file.
struct AsInLine {
  std::string findings = "[]", profile = "null";
};

AsInLine as_in_line(const Record& record, const RunDetails& details) {
  static constexpr std::string_view kNames[] = {"findings", "profile"};
  AsInLine line;
  const bool has_left = record.findings_count > 0 || record.left.findings || record.left.profile;
  if (record.place.length == 0) {
    const nlohmann::ordered_json whole = to_json(record);
    line.findings = dumped(whole["findings"]);
    line.profile = dumped(whole["profile"]);
  } else if (has_left) {  // else both are empty, so the line is not read again
    std::vector<std::string> texts = details.fields(record, kNames);
    if (texts[0] != "null") line.findings = std::move(texts[0]);  // null: an older version wrote it
    line.profile = std::move(texts[1]);
  }
  return line;
}

JsonText candidate_text(const Report& report, const Record& record, const RunDetails& details) {
  const AsInLine line = as_in_line(record, details);
  const auto* passing = passing_answers(report, record);
  const TrialResult trial = record.correctness.empty() ? TrialResult() : record.correctness.front();
  constexpr std::size_t kUsualBytes = 2048;
  return JsonText(kUsualBytes)
      .field("model", record.model.str())
      .field("problem", record.problem.str())
      .field("level", record.level)
      .field("sample", record.sample)
      .raw("findings", line.findings)
      .field("findings_count", record.findings_count)
      .raw("profile", line.profile)
      .field("estimate", maybe(pointer(record.estimate), estimate_object))
      .field("candidate", record.candidate)
      .field("precision", record.precision.str())
      .field("device", record.device.str())
      .field("judge", record.judge.str())
      .raw("sizes", record.sizes.empty() ? "{}" : std::string_view(record.sizes.str()))
      .field("reduced_sizes", maybe(pointer(record.reduced_sizes), reduced_sizes_object))
      .field("outcome", to_string(record.outcome))
      .field("stage", to_string(record.stage))
      .field("cause", record.cause.str())
      .field("message", record.message)
      .field("max_abs_error", trial.max_abs_error)
      .field("max_rel_error", trial.max_rel_error)
      .field("first_wrong", maybe(pointer(trial.first_wrong), wrong_text))
      .field("time_ms", time_ms(record, "candidate"))
      .field("baseline_ms", time_ms(record, report.baseline))
      .field("speedup", maybe(speedup_over(record, report.baseline), speedup_text))
      .field("sol", maybe(pointer(record.sol), sol_text))
      .field("caller_ms", caller_ms(record, "candidate"))
      .field("caller_speedup", caller_speedup(record, report.baseline))
      .field("trust", record.timing ? std::optional(record.timing->trust.str()) : std::nullopt)
      .field("class", record.kernel_class.str())
      .field("flags", record.flags)
      .field("degenerate_problem", passing == nullptr ? std::vector<std::string>() : *passing);
}

ordered_json over_json(const BaselineRow& row) {
  return {{"model", row.model.str()},
          {"precision", row.precision.str()},
          {"device", row.device.str()},
          {"judge", row.judge.str()},
          {"baseline", row.baseline},
          {"fast_1", estimate_json(row.fast_1)},
          {"geomean", estimate_json(row.geomean)}};
}

ordered_json pair_json(const ModelPair& pair) {
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

ordered_json degenerate_json(const DegenerateProblem& problem) {
  ordered_json answers = ordered_json::object();
  for (const auto& [name, answer] : problem.answers)
    answers[name] = {{"would_be_caught_by", answer.would_be_caught_by.empty()
                                                ? ordered_json()
                                                : ordered_json(answer.would_be_caught_by)},
                     {"tolerance", number(answer.tolerance)}};
  return {{"problem", problem.problem.str()},
          {"judge", problem.check.judge.str()},
          {"precision", problem.check.precision.str()},
          {"answers", std::move(answers)}};
}

ordered_json run_settings_json(const RunSettings& run_settings) {
  return {{"devices", run_settings.devices},       {"problem_sets", run_settings.problem_sets},
          {"problems", run_settings.problems},     {"models", run_settings.models},
          {"precisions", run_settings.precisions}, {"timing_methods", run_settings.timing_methods},
          {"trust", run_settings.trust},           {"sandboxes", run_settings.sandboxes},
          {"seeds", run_settings.seeds},           {"kbench", run_settings.versions}};
}

ordered_json exclusion_json(const Exclusion& exclusion) {
  return {{"problem", exclusion.problem.str()},
          {"outcome", exclusion.degenerate ? "degenerate" : to_string(exclusion.outcome)},
          {"cause", exclusion.cause.str()},
          {"samples", exclusion.samples},
          {"message", exclusion.message}};
}

ordered_json unjudged_json(const Report& report, const Unjudged& unjudged) {
  const ManifestEntry& entry = report.run.manifest[unjudged.entry];
  return {{"model", entry.model.str()},      {"problem", entry.problem.str()},
          {"sample", entry.sample},          {"precision", unjudged.precision.str()},
          {"device", unjudged.device.str()}, {"judge", unjudged.judge.str()}};
}

}  // namespace

void write_json(const Report& report, std::ostream& out) {
  ordered_json run_summary = ordered_json::object();
  for (const auto& [label, text] : report.run_summary) run_summary[label] = text;
  ordered_json names = ordered_json::array();
  for (const Metric& metric : report.metrics) names.push_back(metric.name());
  const ordered_json head = {
      {"report", 3},
      {"complete", report.complete},
      {"finished", report.finished},
      {"planned", report.planned},
      {"on_cpu", report.on_cpu},
      {"baseline", report.baseline.empty() ? ordered_json() : ordered_json(report.baseline)},
      {"warnings", report.warnings},
      {"run_settings", run_settings_json(report.run_settings)},
      {"run_summary", std::move(run_summary)},
      {"metrics", std::move(names)},
      {"ranked_by", report.ranked_by.empty() ? ordered_json() : ordered_json(report.ranked_by)}};
  write_head(out, head);

  std::unordered_map<std::size_t, std::size_t> places;
  for (const std::size_t index : report.candidates) places.emplace(index, places.size());
  write_rows(out, "summary", report.summary,
             [&](const SummaryRow& row) { return summary_row_json(report, row, report.metrics); });
  write_rows(out, "slices", report.slices, [&](const SummaryRow& row) {
    return summary_row_json(report, row, report.slice_metrics);
  });
  write_rows(out, "baselines", report.over, over_json);
  write_rows(out, "pairs", report.pairs, pair_json);
  if (report.audited) write_rows(out, "degenerate", report.degenerate, degenerate_json);
  write_rows(out, "exclusions", report.excluded, exclusion_json);
  write_rows(out, "unjudged", report.unjudged,
             [&](const Unjudged& unjudged) { return unjudged_json(report, unjudged); });
  write_rows(out, "failures", report.failures, [&](const FailureGroup& group) {
    ordered_json members = ordered_json::array();
    for (const std::size_t index : group.records) members.push_back(places.at(index));
    return ordered_json{{"judge", group.judge.str()},
                        {"outcome", to_string(group.outcome)},
                        {"cause", group.cause.str()},
                        {"count", group.records.size()},
                        {"candidates", std::move(members)}};
  });
  const RunDetails details(report.run);
  write_rows(out, "candidates", report.candidates, [&](std::size_t index) {
    return candidate_text(report, report.run.records[index], details);
  });
  out << "\n}\n";
}

}  // namespace kbench::report
