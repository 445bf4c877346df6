// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/json/dumped.hpp"
#include "cli/audit_text.hpp"
#include "cli/commands.hpp"
#include "cli/help/option_groups.hpp"
#include "cli/options/eval_input.hpp"
#include "cli/options/format_option.hpp"
#include "cli/options/judging_options.hpp"
#include "cli/options/option_checks.hpp"
#include "cli/options/out_file.hpp"
#include "cli/options/problem_set.hpp"
#include "cli/terminal/cancel.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/progress.hpp"
#include "cli/terminal/tell.hpp"
#include "cli/terminal/terminal.hpp"
#include "kbench/error.hpp"
#include "kbench/run.hpp"
#include "kbench/run_file.hpp"
#include "os/installation.hpp"
#include "run/eval/audit_run.hpp"

namespace kbench::cli {
namespace {

struct AuditArguments {
  std::string problem_set;  ///< --problems
  std::vector<std::string> problems;
  JudgingArguments judging;
  AuditOptions options;
  std::string out;
  bool resume = false, json = false, quiet = false;
};

/// The audits of a resumed file, by their key. Harness faults are left out and thus tried again.
std::map<std::string, ProblemAudit> known_audits(const std::filesystem::path& out, bool resume) {
  std::map<std::string, ProblemAudit> known;
  if (!resume || !std::filesystem::exists(out)) return known;
  for (ProblemAudit& audit : read_audits({out}).audits)
    if (audit.outcome != AuditOutcome::kHarnessFault) known.emplace(audit_key(audit), audit);
  return known;
}

void print_audits(std::span<const ProblemAudit> audits, bool as_json) {
  if (as_json)
    std::cout << dumped(audit_json(audits), 2) << '\n';
  else
    std::cout << audit_text(audits, output_width());
  std::cout.flush();
}

int audit(const AuditArguments& arguments, int cancel_fd) {
  const Installation installation = find_installation();
  const auto problems =
      find_problems(arguments.problems, problem_sets(arguments.problem_set, installation));
  AuditOptions options = arguments.options;
  options.check.overrides = parse_overrides(arguments.judging.settings, problems);
  const auto out = choose_out(arguments.out, "audit", arguments.resume);
  Progress progress(arguments.quiet, "problems", "degenerate");
  AuditRun run(installation, options, progress, cancel_fd);
  const auto known = known_audits(out, arguments.resume);
  AuditWriter writer(out, arguments.resume);
  writer.write(run.header(own_command_line(), problem_set_hash(problems)));
  std::map<std::string, ProblemAudit> audits;  // by the problem's key
  std::vector<Problem> todo;
  for (const Problem& problem : problems) {
    const auto found = known.find(audit_key(run.blank(problem)));
    if (found == known.end())
      todo.push_back(problem);
    else
      audits.emplace(problem.key, found->second);
  }
  progress.planned(todo.size(), audits.size());
  bool faulty = false;
  const bool finished = run.run(todo, [&](ProblemAudit audited) {
    faulty = faulty || audited.outcome == AuditOutcome::kHarnessFault;
    writer.write(audited);
    progress.done(fmt::format("{}: {}", audited.problem.str(), to_string(audited.outcome)),
                  audited.outcome == AuditOutcome::kDegenerate, audited.seconds);
    audits.emplace(audited.problem.str(), std::move(audited));
  });
  if (!finished) return interrupted(progress.done_count(), "problem", out);
  writer.write_end(run.secret(), !faulty);
  std::vector<ProblemAudit> ordered;
  for (const Problem& problem : problems) ordered.push_back(std::move(audits.at(problem.key)));
  progress.end();
  print_audits(ordered, arguments.json);
  tell("audits: {}\n", out.string());
  return faulty ? kFault : 0;
}

}  // namespace

Subcommand add_audit(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "audit",
      "Find degenerate problems: those whose check passes an answer that computes nothing (zeros, "
      "the input, a constant, …)");
  auto arguments = std::make_shared<AuditArguments>();
  command->option_defaults()->group(group::kJudged);
  add_problem_set_option(*command, arguments->problem_set);
  command->add_option("PROBLEM", arguments->problems,
                      "a file, a folder, a glob, or a name in a set; none: all of the default set");
  add_judging_options(*command, arguments->judging, arguments->options.check);
  command->option_defaults()->group(group::kLimits);
  command
      ->add_option(
          "--timeout", arguments->options.problem_limit_s,
          "seconds to open a problem, and to check its trivial answers; a problem that takes "
          "longer is a problem_failure")
      ->type_name("SECONDS")
      ->check(above_zero())
      ->capture_default_str();
  command
      ->add_option("--jobs", arguments->options.jobs,
                   "problems at once on the CPU, 1 to 256; on a GPU always one")
      ->type_name("N")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->option_defaults()->group(group::kOutput);
  command
      ->add_option("--out", arguments->out,
                   "audit file for kbench report --audit (default: audit.jsonl, or "
                   "audit-N.jsonl)")
      ->type_name("FILE");
  command->add_flag("--resume", arguments->resume,
                    "continue an audit file: skip problems that it has");
  add_format_option(*command, arguments->json);
  command->add_flag("--quiet", arguments->quiet, "no progress");
  const auto run_it = [arguments, command] {
    take_judging_options(*command, arguments->judging, arguments->options.check);
    return audit(*arguments, install_cancel());
  };
  return {command, run_it};
}

}  // namespace kbench::cli
