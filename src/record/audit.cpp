// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "base/json/fields.hpp"
#include "kbench/error.hpp"
#include "kbench/run_file.hpp"
#include "problem/from_view.hpp"

namespace kbench {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 4> kAuditOutcomes = {"healthy", "degenerate",
                                                            "problem_failure", "harness_fault"};

AuditCheck check_from(const Fields& fields) {
  return {.judge = fields.text("judge"),
          .precision = fields.text("precision"),
          .trials = fields.integer<int>("trials"),
          .distributions = fields.boolean("distributions")};
}

AuditAnswer answer_from(const Fields& fields) {
  AuditAnswer answer;
  if (fields.maybe("passes")) answer.passes = fields.boolean("passes");
  answer.why = fields.maybe_text("why");
  answer.caught_by = fields.maybe_text("caught_by");
  answer.max_rel_error = fields.maybe_number("max_rel_error");
  answer.allclose_at = fields.maybe_number("allclose_at");
  answer.would_be_caught_by = fields.maybe_text("would_be_caught_by");
  answer.tolerance = fields.maybe_number("tolerance");
  return answer;
}

AuditOutcome outcome_from(std::string_view name) {
  const auto found = std::ranges::find(kAuditOutcomes, name);
  if (found == kAuditOutcomes.end())
    throw Error(fmt::format("field \"outcome\" is \"{}\", which is not an outcome", name));
  return static_cast<AuditOutcome>(found - kAuditOutcomes.begin());
}

}  // namespace

std::string_view to_string(AuditOutcome outcome) {
  return kAuditOutcomes.at(static_cast<std::size_t>(outcome));
}

std::optional<double> tolerance_below(double error) {
  if (!std::isfinite(error) || error <= 0) return std::nullopt;
  const int exponent = static_cast<int>(std::floor(std::log10(error)));
  // Parses text, because powers of ten are not exact. The result must be the double that prints as
  // 3e-05.
  const auto number = [](int digit, int power) {
    return std::strtod(fmt::format("{}e{}", digit, power).c_str(), nullptr);
  };
  // The logarithm may be off by a rounding error.
  for (int power = exponent + 1; power >= exponent - 1; --power)
    for (int digit = 9; digit >= 1; --digit)
      if (const double found = number(digit, power); found > 0 && found < error) return found;
  return std::nullopt;
}

std::vector<std::string> ProblemAudit::passing() const {
  std::vector<std::string> names;
  for (const auto& [name, answer] : answers)
    if (answer.passes.value_or(false)) names.push_back(name);
  return names;
}

std::string audit_key(const ProblemAudit& audit) {
  Sha256 hash;
  hash.field(audit.problem).field(audit.problem_hash).field(audit.device).field(audit.torch);
  hash.field(audit.options_hash).field(audit.judge_hash);
  return hash.hex();
}

json to_json(const AuditAnswer& answer) {
  return {{"passes", answer.passes ? json(*answer.passes) : json()},
          {"why", text_or_null(answer.why)},
          {"caught_by", text_or_null(answer.caught_by)},
          {"max_rel_error", number_or_null(answer.max_rel_error)},
          {"allclose_at", number_or_null(answer.allclose_at)},
          {"would_be_caught_by", text_or_null(answer.would_be_caught_by)},
          {"tolerance", number_or_null(answer.tolerance)}};
}

AuditAnswer audit_answer_from_json(const json& value) {
  return answer_from(Fields(JsonReader(value).root()));
}

json to_json(const ProblemAudit& audit) {
  const bool audited =
      audit.outcome == AuditOutcome::kHealthy || audit.outcome == AuditOutcome::kDegenerate;
  json answers = json::object();
  for (const auto& [name, answer] : audit.answers) answers[name] = to_json(answer);
  return {{"type", "audit"},
          {"problem", audit.problem.str()},
          {"level", audit.level},
          {"problem_hash", audit.problem_hash.str()},
          {"options_hash", audit.options_hash.str()},
          {"judge_hash", audit.judge_hash.str()},
          {"device", audit.device.str()},
          {"torch", audit.torch.str()},
          {"sizes", audit.sizes.empty() ? json::object() : json::parse(audit.sizes.str())},
          {"reduced_sizes", audit.reduced_sizes ? to_json(*audit.reduced_sizes) : json()},
          {"check",
           {{"judge", audit.check.judge.str()},
            {"precision", audit.check.precision.str()},
            {"trials", audit.check.trials},
            {"distributions", audit.check.distributions}}},
          {"outcome", to_string(audit.outcome)},
          {"cause", audit.cause.str()},
          {"message", audit.message},
          {"degenerate", audited ? json(audit.outcome == AuditOutcome::kDegenerate) : json()},
          {"answers", std::move(answers)},
          {"distributions_left_out", audit.distributions_left_out},
          {"seconds", number_or_null(audit.seconds)}};
}

ProblemAudit problem_audit_from_json(const json& line) {
  const JsonReader reader(line);
  const Fields fields(reader.root());
  ProblemAudit audit;
  audit.problem = fields.text("problem");
  audit.level = fields.integer<int>("level");
  audit.problem_hash = fields.text("problem_hash");
  audit.options_hash = fields.text("options_hash");
  audit.judge_hash = fields.text("judge_hash");
  audit.device = fields.text("device");
  audit.torch = fields.text("torch");
  if (const json sizes = fields.object("sizes").to_json(); !sizes.empty())
    audit.sizes = sizes.dump();
  if (const auto reduced_sizes = fields.maybe("reduced_sizes"))
    audit.reduced_sizes = reduced_sizes_from(*reduced_sizes);
  audit.check = check_from(Fields(fields.object("check")));
  audit.outcome = outcome_from(fields.text("outcome"));
  audit.cause = fields.text("cause");
  audit.message = fields.text("message");
  for (const JsonView answer : fields.object("answers"))
    audit.answers.emplace(answer.key(), answer_from(Fields(answer)));
  for (const JsonView why : fields.object("distributions_left_out"))
    audit.distributions_left_out.emplace(why.key(), Fields::text_of(why, "distributions_left_out"));
  audit.seconds = fields.number("seconds");
  return audit;
}

}  // namespace kbench
