// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json/fields.hpp"
#include "kbench/error.hpp"
#include "problem/from_view.hpp"
#include "record/from_view.hpp"
#include "roofline/from_view.hpp"

// Reads records from the lines that record.cpp writes.
namespace kbench {
namespace {

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

std::optional<DetailsRef> maybe_details_ref(const Fields& fields, std::string_view field) {
  const auto value = fields.maybe(field);
  if (!value) return std::nullopt;
  const Fields place(*value);
  return DetailsRef{.offset = place.integer<std::uint64_t>("offset"),
                    .length = place.integer<std::uint64_t>("length")};
}

TrialResult trial_from(const Fields& fields) {
  TrialResult trial;
  trial.trial = fields.integer<int>("trial");
  trial.distribution = fields.text("distribution");
  if (fields.maybe("sizes")) trial.sizes = fields.text("sizes");
  trial.max_abs_error = fields.maybe_number("max_abs_error");
  trial.max_rel_error = fields.maybe_number("max_rel_error");
  trial.error_ratio = fields.maybe_number("error_ratio");
  trial.allclose_at = fields.maybe_number("allclose_at");
  trial.wrong_elements = fields.integer<std::int64_t>("wrong_elements");
  if (const auto wrong = fields.maybe("first_wrong")) {
    trial.first_wrong = wrong_element_from(Fields(*wrong));
  }
  if (const auto found = fields.maybe("wrong_pattern")) {
    const Fields pattern(*found);
    trial.wrong_pattern = {.output = pattern.integer<std::size_t>("output"),
                           .wrong = pattern.integer<std::int64_t>("wrong"),
                           .elements = pattern.integer<std::int64_t>("elements"),
                           .where = std::string(pattern.text("where")),
                           .values = std::string(pattern.text("values"))};
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
  // Records of other judges lack the value even if correct; then it is unknown.
  record.allclose_at = {};
  if (record.outcome != Outcome::kCorrect)
    record.allclose_at = std::numeric_limits<double>::infinity();
}

Timing timing_from(const Fields& fields) {
  Timing timing;
  timing.method = fields.text("method");
  timing.trust = fields.text("trust");
  // Files of older versions: the times are bounds, because the reported ones were not confirmed.
  if (const auto bounds = fields.maybe("bounds");
      bounds && timing.trust == "self_reported" && bounds->size() > 0)
    timing.trust = "bounded";
  for (const JsonView value : fields.object("sides")) {
    const Fields side(value);
    timing.sides.try_emplace(value.key(), SideTiming{.median_ms = side.number("median_ms"),
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
                                                     .wall_ms = side.maybe_number("wall_ms"),
                                                     .span_ms = side.maybe_number("span_ms"),
                                                     .busy_ms = side.maybe_number("busy_ms")});
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
    const Speedup& read = record.speedup.back();
    // NaN passes these comparisons, because it claims nothing.
    if (read.value <= 0 || read.lo <= 0 || read.lo > read.hi)
      throw Error(fmt::format("a speedup of {} ({} to {}) over \"{}\" is not possible", read.value,
                              read.lo, read.hi, read.baseline.str()));
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
  if (const auto reduced_sizes = fields.maybe("reduced_sizes"))
    record.reduced_sizes = reduced_sizes_from(*reduced_sizes);
  if (const auto sol = fields.maybe("sol")) record.sol = speed_of_light_from(*sol);
}

void read_findings(const Fields& fields, Trials kept, Record& record) {
  if (const auto count = fields.maybe("findings_count"))
    record.findings_count = Fields::integer_of<std::uint64_t>(*count, "findings_count");
  if (!fields.maybe("findings")) return;
  for (const JsonView item : fields.array("findings")) {
    if (kept == Trials::kAll) {
      record.findings.push_back(finding_from(item));
    } else {
      // Only notes that there are findings; RunDetails reads them on request.
      record.left.findings =
          record.left.findings || Fields(item).text("kind") != std::string_view(kFaultFinding);
    }
  }
}

/// Fields that newer minor versions of the schema have added.
void read_observations(const Fields& fields, Trials kept, Record& record) {
  read_findings(fields, kept, record);
  if (fields.maybe("checked_again")) record.checked_again = fields.text("checked_again");
  if (fields.maybe("weights")) {
    record.weights = fields.text("weights");
    record.unplaced = fields.texts("unplaced");
  }
  if (fields.maybe("degenerate_problem"))
    record.degenerate_problem = fields.texts("degenerate_problem");
  if (fields.maybe("profile")) {
    const JsonView profile = fields.array("profile");
    record.left.profile = kept != Trials::kAll && profile.size() > 0;
    if (kept == Trials::kAll)
      for (const JsonView item : profile) record.profile.push_back(kernel_profile_from(item));
  }
  if (const auto value = fields.maybe("estimate")) {
    const Fields estimate(*value);
    record.estimate = {.gpu = estimate.string("gpu"),
                       .candidate_ms = estimate.maybe_number("candidate_ms"),
                       .reference_ms = estimate.maybe_number("reference_ms")};
  }
}

}  // namespace

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

Record record_from_json(const nlohmann::json& line) {
  return record_from(JsonReader(line).root(), Trials::kAll);
}

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
  record.reused_from = fields.maybe_text("reused_from");
  record.outcome = named<Outcome>(fields, "outcome", outcome_from_name);
  record.stage = named<Stage>(fields, "stage", stage_from_name);
  record.cause = fields.text("cause");
  record.message = fields.text("message");
  record.launches = fields.integer<std::int64_t>("launches");
  record.flags = fields.texts("flags");
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
                      .fallback = compile.maybe_text("fallback")};
  }
  if (trials == Trials::kShown) {
    read_shown_trial(fields.array("correctness"), record);
  } else {
    for (const JsonView trial : fields.array("correctness"))
      record.correctness.push_back(trial_from(Fields(trial)));
  }
  read_measurements(fields, record);
  read_sizes(fields, record);
  read_observations(fields, trials, record);
  record.details = maybe_details_ref(fields, "details");
  record.source = maybe_details_ref(fields, "source");
  return record;
}

}  // namespace kbench
