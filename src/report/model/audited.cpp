// SPDX-License-Identifier: MIT
#include "report/model/audited.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.hpp"
#include "kbench/error.hpp"
#include "report/model/verdicts.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

/// A note lists at most this many names.
constexpr std::size_t kNamed = 5;

/// The judge whose audits apply to this judge's records: `kb_compat` follows KernelBench's check.
Interned check_of(const Interned& judge) {
  return judge == kKernelBenchJudge ? Interned(kCompatJudge) : judge;
}

/// The parts of a run that an audit must match.
struct Asked {
  std::set<std::tuple<Interned, Interned>> checks;                       // (judge, precision)
  std::set<std::tuple<Interned, Interned, Interned, Interned>> records;  // …, problem, hash
  std::set<Interned> problems;                                           // of the manifest
  std::set<bool> distributions;
};

Asked asked_of(const RunFile& run) {
  Asked asked;
  for (const ManifestEntry& entry : run.manifest) asked.problems.insert(entry.problem);
  for (const Record& record : run.records) {
    const Interned judge = check_of(record.judge);
    asked.checks.emplace(judge, record.precision);
    asked.records.emplace(judge, record.precision, record.problem, record.problem_hash);
  }
  for (const RunHeader& header : run.headers) {
    const auto distributions = header.options.find("distributions");
    asked.distributions.insert(distributions == header.options.end() || *distributions != false);
  }
  return asked;
}

bool is_check_of(const AuditCheck& check, const Asked& asked) {
  return asked.checks.contains({check.judge, check.precision}) &&
         (check.judge == kCompatJudge || asked.distributions.empty() ||
          asked.distributions.contains(check.distributions));
}

std::string listed(const std::set<std::string>& names) {
  std::vector<std::string> first(names.begin(), names.end());
  std::ranges::sort(first, natural_less);
  const bool more = first.size() > kNamed;
  if (more) first.resize(kNamed);
  return fmt::format("{}{}", fmt::join(first, ", "), more ? ", …" : "");
}

/// Combines the passing answers of several audits of one problem by one check.
void add(std::vector<DegenerateProblem>& degenerate, const ProblemAudit& audit) {
  auto same = std::ranges::find_if(degenerate, [&](const DegenerateProblem& problem) {
    return problem.problem == audit.problem && problem.problem_hash == audit.problem_hash &&
           problem.check.judge == audit.check.judge &&
           problem.check.precision == audit.check.precision;
  });
  if (same == degenerate.end())
    same = degenerate.insert(same, {audit.problem, audit.problem_hash, audit.check, {}});
  for (const std::string& name : audit.passing())
    same->answers.emplace(name, audit.answers.at(name));
}

void note(std::vector<std::string>& notes, const std::set<std::string>& names,
          std::string_view what) {
  if (names.empty()) return;
  notes.push_back(
      fmt::format("{} {}: {}", counted(names.size(), "problem"), what, printable(listed(names))));
}

void note_lines(std::vector<std::string>& notes, const AuditFile& audits) {
  if (audits.torn) notes.emplace_back("the last line of an audit is cut off and was skipped");
  if (!audits.bad_lines.empty())
    notes.push_back(fmt::format("{} of an audit could not be read: {}",
                                counted(audits.bad_lines.size(), "line"),
                                printable(audits.bad_lines.front())));
}

}  // namespace

std::vector<DegenerateProblem> degenerate_problems(const RunFile& run, const AuditFile& audits,
                                                   std::vector<std::string>& notes) {
  const Asked asked = asked_of(run);
  std::vector<DegenerateProblem> degenerate;
  std::set<std::string> other_check, other_sizes, not_audited;
  std::set<Interned> audited;
  bool any = false;
  for (const ProblemAudit& audit : audits.audits) {
    if (!asked.problems.contains(audit.problem)) continue;
    if (!is_check_of(audit.check, asked)) {
      other_check.insert(audit.problem.str());
      continue;
    }
    if (!asked.records.contains(
            {audit.check.judge, audit.check.precision, audit.problem, audit.problem_hash})) {
      other_sizes.insert(audit.problem.str());
      continue;
    }
    any = true;
    if (audit.answers.empty()) continue;  // the audit failed
    audited.insert(audit.problem);
    if (audit.outcome == AuditOutcome::kDegenerate) add(degenerate, audit);
  }
  if (!any && !audits.audits.empty())
    throw UsageError(
        other_sizes.empty()
            ? fmt::format("no audit is of a problem and a check of the run; the first is of {}, "
                          "judge {}, precision {}",
                          printable(audits.audits[0].problem.str()),
                          printable(audits.audits[0].check.judge.str()),
                          printable(audits.audits[0].check.precision.str()))
            : fmt::format(
                  "no audit is of the run's problems at the run's sizes: {} had other sizes "
                  "or another text",
                  printable(listed(other_sizes))));
  for (const Interned& problem : asked.problems)
    if (!audited.contains(problem)) not_audited.insert(problem.str());
  note(notes, other_check, "audited by another check than the run's; this audit is not used");
  note(notes, other_sizes, "audited in another version or at other sizes; this audit is not used");
  note(notes, not_audited, "without an audit, counted as not degenerate");
  note_lines(notes, audits);
  std::ranges::stable_sort(degenerate, [](const DegenerateProblem& a, const DegenerateProblem& b) {
    return natural_less(a.problem, b.problem);
  });
  return degenerate;
}

const DegenerateProblem* degenerate_problem(const Report& report, const Record& record) {
  const auto found = std::ranges::find_if(report.degenerate, [&](const DegenerateProblem& problem) {
    return problem.problem == record.problem && problem.problem_hash == record.problem_hash &&
           problem.check.judge == check_of(record.judge) &&
           problem.check.precision == record.precision;
  });
  return found == report.degenerate.end() ? nullptr : &*found;
}

std::set<Interned> degenerate_in(const Report& report, const ScoredSampleGroup& group) {
  std::set<Interned> problems;
  for (const ScoredSample& scored_sample : group.scored_samples) {
    if (scored_sample.record == ScoredSample::kNoRecord) continue;
    const Record& record = report.run.records[scored_sample.record];
    if (degenerate_problem(report, record) != nullptr) problems.insert(record.problem);
  }
  return problems;
}

std::string passing_text(const DegenerateProblem& problem, std::string_view separator) {
  std::vector<std::string> names;
  for (const auto& [name, answer] : problem.answers) names.push_back(name);
  return fmt::format("{}", fmt::join(names, separator));
}

std::string degenerate_heading(const Report& report) {
  if (report.degenerate.empty())
    return "Degenerate problems: none; the check catches every trivial answer";
  return fmt::format("Degenerate problems: {}, on which trivial answers pass",
                     report.degenerate.size());
}

std::string degenerate_text(const DegenerateProblem& problem) {
  std::map<std::string, std::vector<std::string>> names;  // by the check that catches them
  for (const auto& [name, answer] : problem.answers)
    names[answer.would_be_caught_by.empty() ? "nothing" : answer.would_be_caught_by].push_back(
        name);
  std::vector<std::string> parts;
  for (const auto& [distribution, caught] : names)
    parts.push_back(fmt::format("{} (caught by {})", fmt::join(caught, ", "), distribution));
  return printable(fmt::format("{}{}: {}", problem.problem, judge_suffix(problem.check.judge),
                               fmt::join(parts, "; ")));
}

}  // namespace kbench::report
