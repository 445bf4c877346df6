// SPDX-License-Identifier: MIT
#include "kbench/record.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "from_view.hpp"
#include "json_fields.hpp"
#include "kbench/error.hpp"
#include "kbench/hash.hpp"

namespace kbench {
namespace {

using nlohmann::json;

/// Six significant digits are beyond what any of these measurements resolves, and keep lines short.
json to_json(const TrialResult& trial) {
  json first_wrong;
  if (trial.first_wrong) {
    first_wrong = {{"output", trial.first_wrong->output},
                   {"index", trial.first_wrong->index},
                   {"expected", trial.first_wrong->expected},
                   {"got", trial.first_wrong->got}};
  }
  return {{"trial", trial.trial},
          {"family", trial.family},
          {"sizes", trial.sizes.empty() ? json() : json(trial.sizes)},
          {"max_abs_error", number_or_null(trial.max_abs_error)},
          {"max_rel_error", number_or_null(trial.max_rel_error)},
          {"error_ratio", number_or_null(trial.error_ratio)},
          {"allclose_at", number_or_null(trial.allclose_at)},
          {"wrong_elements", trial.wrong_elements},
          {"first_wrong", std::move(first_wrong)}};
}

json to_json(const Timing& timing) {
  json sides = json::object();
  for (const auto& [name, side] : timing.sides) {
    sides[name] = {
        {"median_ms", number_or_null(side.median_ms)}, {"mean_ms", number_or_null(side.mean_ms)},
        {"std_ms", number_or_null(side.std_ms)},       {"min_ms", number_or_null(side.min_ms)},
        {"max_ms", number_or_null(side.max_ms)},       {"count", side.count},
        {"clock_mhz", number_or_null(side.clock_mhz)}, {"q1_ms", number_or_null(side.q1_ms)},
        {"q3_ms", number_or_null(side.q3_ms)},         {"lo_ms", number_or_null(side.lo_ms)},
        {"hi_ms", number_or_null(side.hi_ms)},         {"wall_ms", number_or_null(side.wall_ms)}};
  }
  json bounds;
  for (const auto& [name, bound] : timing.bounds)
    bounds[name] = {{"told_ms", number_or_null(bound.told_ms)},
                    {"bound_ms", number_or_null(bound.bound_ms)},
                    {"overhead_ms", number_or_null(bound.overhead_ms)},
                    {"blocks", bound.blocks},
                    {"told_lo_ms", number_or_null(bound.told_lo_ms)},
                    {"told_hi_ms", number_or_null(bound.told_hi_ms)}};
  return {{"method", timing.method},
          {"trust", timing.trust},
          {"sides", std::move(sides)},
          {"bounds", std::move(bounds)},
          {"overhead_ms", number_or_null(timing.overhead_ms)},
          {"floor_ms", number_or_null(timing.floor_ms)}};
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

/// A point in time to a hundredth of a second: six digits would not tell one day from the next.
json time_or_null(const std::optional<double>& seconds) {
  if (!seconds || !std::isfinite(*seconds)) return {};
  return std::round(*seconds * 100) / 100;
}

template <typename T, typename FromName>
T named(const Fields& fields, const char* field, FromName from_name) {
  const std::string_view name = fields.text(field);
  const std::optional<T> value = from_name(name);
  if (!value) throw Error(fmt::format("field \"{}\" has the unknown value \"{}\"", field, name));
  return *value;
}

WrongElement wrong_element_from(const Fields& fields) {
  WrongElement wrong;
  wrong.output = fields.integer<std::size_t>("output");
  for (const JsonView size : fields.array("index")) {
    const auto natural = size.natural();
    const auto negative = size.negative();
    if (!natural && !negative) throw Error("field \"index\" holds something other than integers");
    wrong.index.push_back(natural ? static_cast<std::int64_t>(*natural) : *negative);
  }
  wrong.expected = fields.text("expected");
  wrong.got = fields.text("got");
  return wrong;
}

TrialResult trial_from(const Fields& fields) {
  TrialResult trial;
  trial.trial = fields.integer<int>("trial");
  trial.family = fields.text("family");
  if (fields.maybe("sizes")) trial.sizes = fields.text("sizes");
  trial.max_abs_error = fields.maybe_number("max_abs_error");
  trial.max_rel_error = fields.maybe_number("max_rel_error");
  trial.error_ratio = fields.maybe_number("error_ratio");
  trial.allclose_at = fields.maybe_number("allclose_at");
  trial.wrong_elements = fields.integer<std::int64_t>("wrong_elements");
  if (const auto wrong = fields.maybe("first_wrong")) {
    trial.first_wrong = wrong_element_from(Fields(*wrong));
  }
  return trial;
}

void read_shown_trial(JsonView trials, Record& record) {
  std::optional<JsonView> shown;
  bool shows_wrong = false, any_never = false;
  double largest = -std::numeric_limits<double>::infinity();
  for (const JsonView item : trials) {
    const Fields trial(item);
    const std::optional<double> allclose_at = trial.maybe_number("allclose_at");
    any_never = any_never || !allclose_at;
    record.allclose_at = std::max(record.allclose_at.value_or(0), allclose_at.value_or(0));
    if (shows_wrong) continue;
    const double error = trial.maybe_number("max_abs_error").value_or(-1);
    shows_wrong = trial.maybe("first_wrong").has_value();
    if (!shows_wrong && error <= largest) continue;
    largest = error;
    shown = item;
  }
  if (shown) record.correctness.push_back(trial_from(Fields(*shown)));
  if (!any_never) return;
  // What other judges and older versions say of right answers has no tolerance.
  record.allclose_at.reset();
  if (record.outcome != Outcome::kCorrect)
    record.allclose_at = std::numeric_limits<double>::infinity();
}

Timing timing_from(const Fields& fields) {
  Timing timing;
  timing.method = fields.text("method");
  timing.trust = fields.text("trust");
  for (const JsonView value : fields.object("sides")) {
    const Fields side(value);
    timing.sides[value.key()] = {.median_ms = side.number("median_ms"),
                                 .mean_ms = side.number("mean_ms"),
                                 .std_ms = side.number("std_ms"),
                                 .min_ms = side.number("min_ms"),
                                 .max_ms = side.number("max_ms"),
                                 .count = side.integer<std::int64_t>("count"),
                                 .clock_mhz = side.maybe_number("clock_mhz"),
                                 .q1_ms = side.maybe_number("q1_ms"),
                                 .q3_ms = side.maybe_number("q3_ms"),
                                 .lo_ms = side.maybe_number("lo_ms"),
                                 .hi_ms = side.maybe_number("hi_ms"),
                                 .wall_ms = side.maybe_number("wall_ms")};
  }
  timing.overhead_ms = fields.maybe_number("overhead_ms");
  timing.floor_ms = fields.maybe_number("floor_ms");
  if (!fields.maybe("bounds")) return timing;
  for (const JsonView value : fields.object("bounds")) {
    const Fields bound(value);
    timing.bounds[value.key()] = {.told_ms = bound.number("told_ms"),
                                  .bound_ms = bound.number("bound_ms"),
                                  .overhead_ms = bound.number("overhead_ms"),
                                  .blocks = bound.integer<std::int64_t>("blocks"),
                                  .told_lo_ms = bound.maybe_number("told_lo_ms"),
                                  .told_hi_ms = bound.maybe_number("told_hi_ms")};
  }
  return timing;
}

void read_measurements(const Fields& fields, Record& record) {
  if (const auto timing = fields.maybe("timing")) record.timing = timing_from(Fields(*timing));
  for (const JsonView item : fields.array("speedup")) {
    const Fields speedup(item);
    record.speedup.push_back({.baseline = speedup.text("baseline"),
                              .value = speedup.number("value"),
                              .lo = speedup.number("lo"),
                              .hi = speedup.number("hi"),
                              .stored = speedup.maybe("stored") && speedup.boolean("stored")});
  }
  if (record.outcome != Outcome::kCorrect && (record.timing || !record.speedup.empty())) {
    throw Error(fmt::format("outcome \"{}\" carries times; only \"correct\" may",
                            to_string(record.outcome)));
  }
}

void read_sizes(const Fields& fields, Record& record) {
  if (fields.maybe("sizes")) {
    const JsonView sizes = fields.object("sizes");
    for (const JsonView literal : sizes) Fields::text_of(literal, "sizes");
    if (sizes.size() != 0) record.sizes = sizes.to_json().dump();
  }
  if (const auto shrunk = fields.maybe("shrunk")) record.shrunk = shrunk_from(*shrunk);
  if (const auto sol = fields.maybe("sol")) record.sol = speed_of_light_from(*sol);
}

/// What newer minor versions of the schema have added.
void read_observations(const Fields& fields, Record& record) {
  if (fields.maybe("findings")) {
    for (const JsonView item : fields.array("findings"))
      record.findings.push_back(finding_from(item));
  }
  if (fields.maybe("findings_count"))
    record.findings_count = fields.integer<std::uint64_t>("findings_count");
  if (fields.maybe("profile")) {
    for (const JsonView item : fields.array("profile"))
      record.profile.push_back(kernel_profile_from(item));
  }
  if (const auto value = fields.maybe("estimate")) {
    const Fields estimate(*value);
    record.estimate = {.gpu = estimate.string("gpu"),
                       .candidate_ms = estimate.maybe_number("candidate_ms"),
                       .reference_ms = estimate.maybe_number("reference_ms")};
  }
}

json to_json(const TimeEstimate& estimate) {
  return {{"gpu", estimate.gpu},
          {"candidate_ms", number_or_null(estimate.candidate_ms)},
          {"reference_ms", number_or_null(estimate.reference_ms)},
          {"ratio", number_or_null(estimate.ratio())}};
}

/// The fields that read_observations() reads.
void write_observations(const Record& record, json& line) {
  json findings = json::array();
  for (const Finding& finding : record.findings) {
    if (findings.size() == kRecordFindings) break;
    findings.push_back(to_json(finding));
  }
  json profile;
  for (const KernelProfile& kernel : record.profile) profile.push_back(to_json(kernel));
  line["findings"] = std::move(findings);
  line["findings_count"] = record.findings_count;
  line["profile"] = std::move(profile);
  line["estimate"] = record.estimate ? to_json(*record.estimate) : json();
}

}  // namespace

std::span<const std::string_view> unclean_flags() {
  static constexpr std::string_view kFlags[] = {"uninitialized_read", "barrier_divergence",
                                                "shared_race", "global_race", "read_clock"};
  return kFlags;
}

json to_json(const Finding& finding) {
  return {{"kind", finding.kind.str()},     {"kernel", finding.kernel.str()},
          {"file", finding.file.str()},     {"line", finding.line},
          {"block", finding.block},         {"thread", finding.thread},
          {"region", finding.region.str()}, {"offset_bytes", finding.offset_bytes},
          {"message", finding.message},     {"count", finding.count}};
}

Finding finding_from_json(const json& object) { return finding_from(object); }

Finding finding_from(JsonView object) {
  const Fields fields(object);
  Finding finding;
  finding.kind = fields.text("kind");
  finding.kernel = fields.text("kernel");
  finding.file = fields.text("file");
  finding.line = fields.integer<int>("line");
  finding.block = fields.extents("block");
  finding.thread = fields.extents("thread");
  finding.region = fields.text("region");
  finding.offset_bytes = fields.integer<std::int64_t>("offset_bytes");
  finding.message = fields.text("message");
  finding.count = fields.integer<std::uint64_t>("count");
  return finding;
}

bool Timing::is_bounded() const { return trust == "self_reported" && !bounds.empty(); }

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
               {"shrunk", nullptr},
               {"sol", nullptr},
               {"correct_at", nullptr},
               {"compile", nullptr},
               {"timing", nullptr},
               {"details", nullptr},
               {"reused_from", text_or_null(record.reused_from)},
               {"correctness", json::array()},
               {"speedup", json::array()}};
  if (record.shrunk) line["shrunk"] = to_json(*record.shrunk);
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
  if (record.details) {
    line["details"] = {{"offset", record.details->offset}, {"length", record.details->length}};
  }
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

Record record_from_json(const json& line) { return record_from(line, Trials::kAll); }

Record record_from(JsonView line, Trials trials) {
  const Fields fields(line);
  Record record;
  record.model = fields.text("model");
  record.problem = fields.text("problem");
  record.level = fields.integer<int>("level");
  record.sample = fields.integer<int>("sample");
  record.candidate = fields.text("candidate");
  record.kind = named<CandidateKind>(fields, "kind", candidate_kind_from_name);
  record.precision = fields.text("precision");
  record.device = fields.text("device");
  record.torch = fields.text("torch");
  record.problem_hash = fields.text("problem_hash");
  record.candidate_hash = fields.text("candidate_hash");
  record.options_hash = fields.text("options_hash");
  record.judge_hash = fields.text("judge_hash");
  if (const auto judge = fields.maybe("judge")) record.judge = Fields::text_of(*judge, "judge");
  if (const auto from = fields.maybe("reused_from"))
    record.reused_from = Fields::text_of(*from, "reused_from");
  record.outcome = named<Outcome>(fields, "outcome", outcome_from_name);
  record.stage = named<Stage>(fields, "stage", stage_from_name);
  record.cause = fields.text("cause");
  record.message = fields.text("message");
  record.launches = fields.integer<std::int64_t>("launches");
  for (const JsonView flag : fields.array("flags"))
    record.flags.emplace_back(Fields::text_of(flag, "flags"));
  record.kernel_class = fields.text("class");
  record.seconds = fields.number("seconds");
  record.ended_at = fields.maybe_number("ended");
  if (const auto correct_at = fields.maybe("correct_at")) {
    record.correct_at = Fields::text_of(*correct_at, "correct_at");
  }
  if (const auto value = fields.maybe("compile")) {
    const Fields compile(*value);
    record.compile = {.seconds = compile.number("seconds"),
                      .cached = compile.boolean("cached"),
                      .way = compile.string("way"),
                      .host_s = compile.maybe_number("host_s"),
                      .fallback = ""};
    // Run files of before it do not have it.
    if (const auto fallback = compile.maybe("fallback"))
      record.compile->fallback = Fields::text_of(*fallback, "fallback");
  }
  if (trials == Trials::kShown) {
    read_shown_trial(fields.array("correctness"), record);
  } else {
    for (const JsonView trial : fields.array("correctness"))
      record.correctness.push_back(trial_from(Fields(trial)));
  }
  read_measurements(fields, record);
  read_sizes(fields, record);
  read_observations(fields, record);
  if (const auto value = fields.maybe("details")) {
    const Fields details(*value);
    record.details = {.offset = details.integer<std::uint64_t>("offset"),
                      .length = details.integer<std::uint64_t>("length")};
  }
  return record;
}

}  // namespace kbench
