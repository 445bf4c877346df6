// SPDX-License-Identifier: MIT
#include "kbench/record.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "base/json/fields.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

using nlohmann::json;

/// Six significant digits are more than the measurements resolve, and lines stay short.
json to_json(const TrialResult& trial) {
  json first_wrong;
  if (trial.first_wrong) {
    first_wrong = {{"output", trial.first_wrong->output},
                   {"index", trial.first_wrong->index},
                   {"expected", trial.first_wrong->expected},
                   {"got", trial.first_wrong->got}};
  }
  json line{{"trial", trial.trial},
            {"distribution", trial.distribution},
            {"sizes", trial.sizes.empty() ? json() : json(trial.sizes)},
            {"max_abs_error", number_or_null(trial.max_abs_error)},
            {"max_rel_error", number_or_null(trial.max_rel_error)},
            {"error_ratio", number_or_null(trial.error_ratio)},
            {"allclose_at", number_or_null(trial.allclose_at)},
            {"wrong_elements", trial.wrong_elements},
            {"first_wrong", std::move(first_wrong)}};
  if (const auto& pattern = trial.wrong_pattern)
    line["wrong_pattern"] = {{"output", pattern->output},
                             {"wrong", pattern->wrong},
                             {"elements", pattern->elements},
                             {"where", pattern->where},
                             {"values", pattern->values}};
  return line;
}

json to_json(const SideTiming& side) {
  return {{"median_ms", number_or_null(side.median_ms)}, {"mean_ms", number_or_null(side.mean_ms)},
          {"std_ms", number_or_null(side.std_ms)},       {"min_ms", number_or_null(side.min_ms)},
          {"max_ms", number_or_null(side.max_ms)},       {"count", side.count},
          {"clock_mhz", number_or_null(side.clock_mhz)}, {"q1_ms", number_or_null(side.q1_ms)},
          {"q3_ms", number_or_null(side.q3_ms)},         {"lo_ms", number_or_null(side.lo_ms)},
          {"hi_ms", number_or_null(side.hi_ms)},         {"wall_ms", number_or_null(side.wall_ms)},
          {"span_ms", number_or_null(side.span_ms)},     {"busy_ms", number_or_null(side.busy_ms)}};
}

json to_json(const Timing& timing) {
  json sides = json::object();
  for (const auto& [name, side] : timing.sides) sides[name] = to_json(side);
  return {{"method", timing.method}, {"trust", timing.trust}, {"sides", std::move(sides)}};
}

json to_json(const Speedup& speedup) {
  const std::string_view relation = relation_of(speedup);
  return {{"baseline", speedup.baseline},
          {"value", number_or_null(speedup.value)},
          {"lo", number_or_null(speedup.lo)},
          {"hi", number_or_null(speedup.hi)},
          {"relation", relation.empty() ? json() : json(relation)},
          {"stored", speedup.stored}};
}

/// Rounds a point in time to a hundredth of a second. With six digits, two days could look alike.
json time_or_null(const std::optional<double>& seconds) {
  if (!seconds || !std::isfinite(*seconds)) return {};
  return std::round(*seconds * 100) / 100;
}

json to_json(const TimeEstimate& estimate) {
  return {{"gpu", estimate.gpu},
          {"candidate_ms", number_or_null(estimate.candidate_ms)},
          {"reference_ms", number_or_null(estimate.reference_ms)},
          {"ratio", number_or_null(estimate.ratio())}};
}

json to_json(const DetailsRef& place) {
  return {{"offset", place.offset}, {"length", place.length}};
}

/// Fields that newer minor versions of the schema have added.
void write_observations(const Record& record, json& line) {
  json findings = json::array();
  for (const Finding& finding : record.findings) {
    if (findings.size() == kRecordFindings) break;
    findings.push_back(to_json(finding));
  }
  if (const auto& names = record.degenerate_problem) line["degenerate_problem"] = *names;
  json profile;
  for (const KernelProfile& kernel : record.profile) profile.push_back(to_json(kernel));
  if (!record.weights.empty()) {
    line["weights"] = record.weights;
    line["unplaced"] = record.unplaced;
  }
  line["findings"] = std::move(findings);
  line["findings_count"] = record.findings_count;
  if (!record.checked_again.empty()) line["checked_again"] = record.checked_again;
  line["profile"] = std::move(profile);
  line["estimate"] = record.estimate ? to_json(*record.estimate) : json();
}

}  // namespace

json to_json(const Finding& finding) {
  return {{"kind", finding.kind.str()},     {"kernel", finding.kernel.str()},
          {"file", finding.file.str()},     {"line", finding.line},
          {"block", finding.block},         {"thread", finding.thread},
          {"region", finding.region.str()}, {"offset_bytes", finding.offset_bytes},
          {"message", finding.message},     {"count", finding.count}};
}

bool Timing::is_bounded() const { return trust == "bounded"; }

bool is_own_judge(const Interned& judge) { return judge == kOwnJudge || judge == kEvalModeJudge; }

bool computes_nothing(const Record& record) {
  return record.kernel_class == "none" && is_own_judge(record.judge);
}

std::string record_key(const Record& record) {
  Sha256 hash;
  hash.field(record.model).field(record.problem).field(std::to_string(record.sample));
  hash.field(record.precision).field(record.device).field(record.torch);
  hash.field(record.problem_hash).field(record.candidate_hash);
  hash.field(record.options_hash).field(record.judge_hash).field(record.judge);
  return hash.hex();
}

bool same_key(const Record& a, const Record& b) {
  return a.model == b.model && a.problem == b.problem && a.sample == b.sample &&
         a.precision == b.precision && a.device == b.device && a.torch == b.torch &&
         a.problem_hash == b.problem_hash && a.candidate_hash == b.candidate_hash &&
         a.options_hash == b.options_hash && a.judge_hash == b.judge_hash && a.judge == b.judge;
}

json to_json(const Record& record) {
  json line = {{"type", "record"},
               {"model", record.model.str()},
               {"problem", record.problem.str()},
               {"level", record.level},
               {"sample", record.sample},
               {"candidate", record.candidate},
               {"kind", to_string(record.kind)},
               {"precision", record.precision.str()},
               {"device", record.device.str()},
               {"torch", record.torch.str()},
               {"problem_hash", record.problem_hash.str()},
               {"candidate_hash", record.candidate_hash},
               {"options_hash", record.options_hash.str()},
               {"judge_hash", record.judge_hash.str()},
               {"judge", record.judge.str()},
               {"outcome", to_string(record.outcome)},
               {"stage", to_string(record.stage)},
               {"cause", record.cause.str()},
               {"message", record.message},
               {"launches", record.launches},
               {"flags", record.flags},
               {"class", record.kernel_class.str()},
               {"seconds", number_or_null(record.seconds)},
               {"ended", time_or_null(record.ended_at)},
               {"sizes", record.sizes.empty() ? json::object() : json::parse(record.sizes.str())},
               {"reduced_sizes", nullptr},
               {"sol", nullptr},
               {"correct_at", nullptr},
               {"compile", nullptr},
               {"timing", nullptr},
               {"details", nullptr},
               {"reused_from", text_or_null(record.reused_from)},
               {"degenerate_problem", nullptr},
               {"correctness", json::array()},
               {"speedup", json::array()}};
  if (record.reduced_sizes) line["reduced_sizes"] = to_json(*record.reduced_sizes);
  if (record.correct_at) line["correct_at"] = *record.correct_at;
  if (record.compile) {
    const auto& host_s = record.compile->host_s;
    line["compile"] = {{"seconds", number_or_null(record.compile->seconds)},
                       {"cached", record.compile->cached},
                       {"way", record.compile->way},
                       {"host_s", host_s ? number_or_null(*host_s) : json()},
                       {"fallback", record.compile->fallback}};
  }
  for (const TrialResult& trial : record.correctness) line["correctness"].push_back(to_json(trial));
  if (record.outcome == Outcome::kCorrect) {
    if (record.timing) line["timing"] = to_json(*record.timing);
    if (record.sol) line["sol"] = to_json(*record.sol);
    for (const Speedup& speedup : record.speedup) line["speedup"].push_back(to_json(speedup));
  }
  write_observations(record, line);
  if (record.details) line["details"] = to_json(*record.details);
  if (record.source) line["source"] = to_json(*record.source);
  return line;
}

std::string_view relation_of(const Speedup& speedup) {
  constexpr double kDifferent = 1.005;
  constexpr double kAlike = 1.02;
  if (!std::isfinite(speedup.lo) || !std::isfinite(speedup.hi)) return "";
  if (speedup.lo > kDifferent) return "faster";
  if (speedup.hi < 1 / kDifferent) return "slower";
  return speedup.lo >= 1 / kAlike && speedup.hi <= kAlike ? "same" : "ambiguous";
}

}  // namespace kbench
