// SPDX-License-Identifier: MIT
#include "cli/options/report_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "cli/help/option_groups.hpp"
#include "cli/options/judging_options.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/tell.hpp"
#include "cli/terminal/terminal.hpp"
#include "kbench/error.hpp"
#include "kbench/run_file.hpp"
#include "report/gate/gate.hpp"
#include "report/model/narrowed.hpp"
#include "report/text/text.hpp"

namespace kbench::cli {
namespace {

std::vector<ReportFile> report_files_of(const ReportArguments& arguments) {
  std::vector<ReportFile> report_files;
  for (const std::string& format : arguments.formats) report_files.push_back(report_file(format));
  return report_files;
}

/// True if a report of this file, empty if none is named, goes to standard output.
bool is_stdout(const std::filesystem::path& file) { return file.empty() || file == "/dev/stdout"; }

/// Writes the Markdown report into the step summary of GitHub Actions, if the `github` format is
/// requested.
void write_step_summary(const Report& report, std::span<const ReportFile> report_files) {
  const char* file = std::getenv("GITHUB_STEP_SUMMARY");
  const bool is_asked = std::ranges::any_of(report_files, [](const ReportFile& report_file) {
    return report_file.format->name == "github";
  });
  if (!is_asked || file == nullptr || *file == '\0') return;
  std::ofstream out(file, std::ios::app);
  report_format("markdown").write(report, out);
  out.flush();
  if (!out) tell("kbench: cannot write the step summary to {} (GITHUB_STEP_SUMMARY)\n", file);
}

/// True if a condition of `--select` chooses samples of the plan.
bool chooses_samples(const std::vector<std::string>& selections) {
  return std::ranges::any_of(selections, [](const std::string& text) {
    const std::string name = text.substr(0, text.find_first_of("!="));
    return std::ranges::any_of(Selection::fields(), [&](const Selection::Field& field) {
      return field.of_plan() && field.name == name;
    });
  });
}

/// The sentence about candidates that belong to no problem of a run that had to judge all of them.
std::string unplaced_text(const RunFile& run) {
  const LeftOut unplaced = report::unplaced_candidates(run);
  if (unplaced.count == 0) return {};
  return report::printable(left_out_text(unplaced)) + "; a gate needs a verdict on each candidate";
}

/// One sentence for each gate, expectation and `--fail-on` condition that the report does not meet.
std::vector<std::string> unmet(const Report& report, const ReportArguments& arguments,
                               const std::optional<Expectations>& expected) {
  std::vector<Gate> gates;
  for (const std::string& argument : arguments.gates) gates.push_back(parse_gate(argument));
  std::vector<std::string> sentences = unmet_gates(report, gates);
  if (!report.unplaced.empty()) sentences.push_back(report.unplaced);
  const auto add = [&](const std::vector<std::string>& more) {
    sentences.insert(sentences.end(), more.begin(), more.end());
  };
  if (expected) add(unmet_expectations(report, *expected));
  std::optional<ComparedRun> older;
  if (!arguments.against.empty())
    older = ComparedRun{.name = arguments.against, .run = read_run(arguments.against)};
  const FailOnResult failed = failed_on(report, fail_on_of(arguments), older ? &*older : nullptr);
  // Tells what was compared even if the gate passes.
  if (!failed.compared.empty()) tell("kbench: {}\n", failed.compared);
  add(failed.sentences);
  return sentences;
}

}  // namespace

FailOn fail_on_of(const ReportArguments& arguments) {
  FailOn fail_on;
  for (const std::string& argument : arguments.fail_on) parse_fail_on(argument, fail_on);
  return fail_on;
}

void add_report_options(CLI::App& app, ReportArguments& a, const char* quiet) {
  app.option_defaults()->group(group::kOutput);
  app.add_option("--format", a.formats,
                 fmt::format("format of the report, on standard output or in a file (svg: in a "
                             "folder): {}; may be repeated (default: console)",
                             fmt::join(names_of(report_formats()), ", ")))
      ->type_name("FORMAT[=FILE]")
      ->allow_extra_args(false);
  app.add_option("--p", a.options.p, "speedups p of fast_p")
      ->type_name("P[,…]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_option("--k", a.options.k, "k of pass@k, fast_p@k and best@k")
      ->type_name("K[,…]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  app.add_flag("--include-degenerate", a.options.include_degenerate,
               "count degenerate problems (trivial answers pass their check) in metrics and gates");
  add_select_option(app, a.selections);
  app.add_flag("--verbose", a.options.verbose, "every metric, every candidate and every failure");
  app.add_flag("--quiet", a.options.quiet, quiet)->excludes("--verbose");
  app.option_defaults()->group(group::kGates);
  app.add_option(
         "--fail-under", a.gates,
         "exit 3 if a model's METRIC is below X; with @ci, if the lower end of its interval "
         "is; may be repeated")
      ->type_name("[levelN.]METRIC[@ci]=X")
      ->allow_extra_args(false);
  app.add_option(
         "--expect", a.expect,
         "JSON file of candidate's file: outcome (--format expect=FILE writes one; * is every "
         "other file): exit 3 if an outcome differs")
      ->type_name("FILE");
  app.add_option("--fail-on", a.fail_on,
                 "cheat, or, with --against, new-failure or regression[=5%]: exit 3 if the run has "
                 "one; may be repeated")
      ->type_name("CONDITION")
      ->allow_extra_args(false);
  app.add_option("--against", a.against, "older run file that --fail-on compares with")
      ->type_name("FILE");
}

void add_select_option(CLI::App& app, std::vector<std::string>& selections) {
  app.add_option("--select", selections,
                 "only what matches, or with != what does not; problem, level, model, sample and "
                 "tag choose what is counted; outcome, cause, class, kind, flag and trust choose "
                 "only what is listed; may be repeated")
      ->type_name("FIELD=PATTERN[,…]")
      ->allow_extra_args(false);
}

Selection selection_of(const std::vector<std::string>& arguments) {
  Selection selection;
  for (const std::string& argument : arguments) selection.add(argument);
  return selection;
}

void check_words(const ReportArguments& arguments) {
  selection_of(arguments.selections);
  for (const ReportFile& report_file : report_files_of(arguments))
    if (arguments.only_files && is_stdout(report_file.file))
      throw UsageError(fmt::format(
          "--format {0}: standard output carries the records of --candidates -; name a file, as in "
          "--format {0}=FILE",
          report_file.format->name));
  for (const std::string& argument : arguments.gates) parse_gate(argument);
  const FailOn fail_on = fail_on_of(arguments);
  if (fail_on.needs_other() && arguments.against.empty())
    throw UsageError("--fail-on new-failure and regression need --against OLD.jsonl");
  if (!arguments.against.empty()) {
    if (!fail_on.needs_other())
      throw UsageError("--against needs --fail-on new-failure or --fail-on regression");
    // Fails here, before a run that may take hours.
    if (!std::ifstream(arguments.against))
      throw UsageError(fmt::format("cannot read {} (--against)", arguments.against));
  }
  if (!arguments.expect.empty()) read_expectations(arguments.expect);
}

int report_on(RunFile run, const ReportArguments& arguments,
              const std::optional<AuditFile>& audits) {
  ReportOptions options = arguments.options;
  options.select = selection_of(arguments.selections);
  fit_terminal(options.color, options.width);
  if (const char* workspace = std::getenv("GITHUB_WORKSPACE")) options.github_workspace = workspace;
  const std::vector<ReportFile> report_files = report_files_of(arguments);
  // Never freed: the process ends here, and freeing a hundred thousand records takes time.
  Report& report = *new Report(build_report(std::move(run), options, audits));  // NOLINT
  if (arguments.has_gate() && !chooses_samples(arguments.selections))
    report.unplaced = unplaced_text(report.run);
  std::optional<Expectations> expected;
  if (!arguments.expect.empty())
    expect(report, expected.emplace(read_expectations(arguments.expect)));
  if (!arguments.only_files || !report_files.empty())
    write_reports(report, report_files, std::cout);
  write_step_summary(report, report_files);
  const std::vector<std::string> sentences = unmet(report, arguments, expected);
  for (const std::string& sentence : sentences) tell("kbench: {}\n", sentence);
  return sentences.empty() ? 0 : kGate;
}

}  // namespace kbench::cli
