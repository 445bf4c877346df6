// SPDX-License-Identifier: MIT
#include "cli/audit_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "cli/terminal/text_table.hpp"

namespace kbench::cli {
namespace {

constexpr const char* kNone = "none";
/// Limit of a column: above KernelBench's names (64 characters), below a sentence.
constexpr std::size_t kMaxColumn = 80;

std::string cell(const ProblemAudit& audit, const std::string& name) {
  const auto answer = audit.answers.find(name);
  if (answer == audit.answers.end() || !answer->second.passes) return "–";
  return *answer->second.passes ? "PASSES" : answer->second.caught_by;
}

std::string failure(const ProblemAudit& audit) {
  return fmt::format("{}: {}", to_string(audit.outcome), audit.message);
}

std::string answers_table(std::span<const ProblemAudit> audits, std::size_t width) {
  std::set<std::string> names;
  for (const ProblemAudit& audit : audits)
    for (const auto& [name, answer] : audit.answers) names.insert(name);
  std::vector<std::vector<std::string>> rows(1, {"problem"});
  rows[0].insert(rows[0].end(), names.begin(), names.end());
  for (const ProblemAudit& audit : audits) {
    auto& row = rows.emplace_back(1, audit.problem.str());
    if (audit.answers.empty())
      row.push_back(failure(audit));
    else
      for (const std::string& name : names) row.push_back(cell(audit, name));
  }
  return table_text(rows, {}, kMaxColumn, width);
}

std::string distribution_cell(const AuditAnswer& answer) {
  if (!answer.would_be_caught_by.empty()) return answer.would_be_caught_by;
  return answer.why.empty() ? kNone : fmt::format("{} (not checked: {})", kNone, answer.why);
}

std::string degenerate_table(std::span<const ProblemAudit> audits, std::size_t width) {
  std::vector<std::vector<std::string>> rows(
      1, {"degenerate under this check", "answer", "tolerance", "distribution"});
  for (const ProblemAudit& audit : audits)
    for (const std::string& name : audit.passing()) {
      const AuditAnswer& answer = audit.answers.at(name);
      rows.push_back({audit.problem.str(), name,
                      answer.tolerance ? fmt::format("{}", *answer.tolerance) : kNone,
                      distribution_cell(answer)});
    }
  return rows.size() > 1 ? "\n" + table_text(rows, {}, kMaxColumn, width) : std::string();
}

std::string check_text(const AuditCheck& check) {
  return fmt::format("{}, {}, {} trial{}{}", check.judge.str(), check.precision.str(), check.trials,
                     check.trials == 1 ? "" : "s",
                     check.distributions ? " and input distributions" : "");
}

}  // namespace

std::string audit_text(std::span<const ProblemAudit> audits, std::size_t width) {
  if (audits.empty()) return {};
  const auto with = [&](AuditOutcome outcome) {
    return std::ranges::count(audits, outcome, &ProblemAudit::outcome);
  };
  const auto failed = with(AuditOutcome::kProblemFailure) + with(AuditOutcome::kHarnessFault);
  std::string text = answers_table(audits, width) + degenerate_table(audits, width);
  if (with(AuditOutcome::kDegenerate) > 0)
    text +=
        "distribution: inputs of kbench's whole check on which the answer fails; tolerance: the\n"
        "largest tolerance at which the trials of this check reject the answer\n";
  text += fmt::format("\n{} of {} {} degenerate under this check ({})\n",
                      with(AuditOutcome::kDegenerate),
                      static_cast<std::ptrdiff_t>(audits.size()) - failed,
                      with(AuditOutcome::kDegenerate) == 1 ? "problems is" : "problems are",
                      check_text(audits.front().check));
  if (failed > 0)
    text +=
        fmt::format("{} more could not be checked: {} problem_failure, {} harness_fault\n", failed,
                    with(AuditOutcome::kProblemFailure), with(AuditOutcome::kHarnessFault));
  std::map<std::string, ReducedSizes> reduced_sizes;
  for (const ProblemAudit& audit : audits)
    if (audit.reduced_sizes) reduced_sizes.emplace(audit.problem.str(), *audit.reduced_sizes);
  return reduced_sizes.empty() ? text : text + reduced_sizes_text(reduced_sizes) + "\n";
}

nlohmann::json audit_json(std::span<const ProblemAudit> audits) {
  nlohmann::json degenerate = nlohmann::json::array(), problems = nlohmann::json::array();
  for (const ProblemAudit& audit : audits) {
    if (audit.outcome == AuditOutcome::kDegenerate) degenerate.push_back(audit.problem.str());
    problems.push_back(to_json(audit));
  }
  return {{"degenerate", std::move(degenerate)}, {"problems", std::move(problems)}};
}

}  // namespace kbench::cli
