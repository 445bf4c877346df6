// SPDX-License-Identifier: MIT
#include "kbench/report.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "commands.hpp"
#include "kbench/run_log.hpp"
#include "terminal.hpp"

namespace kbench::cli {
namespace {

struct ReportArguments {
  std::vector<std::filesystem::path> runs, audits;
  std::vector<std::string> formats;
  ReportOptions options;
};

int report(const ReportArguments& arguments) {
  // A misspelled format is told before a long file is read.
  std::vector<ReportTarget> targets;
  for (const std::string& format : arguments.formats) targets.push_back(report_target(format));
  ReportOptions options = arguments.options;
  fit_terminal(options.color, options.width);
  std::optional<AuditFile> audits;
  if (!arguments.audits.empty()) audits = read_audits(arguments.audits);
  write_reports(build_report(read_runs(arguments.runs), options, audits), targets, std::cout);
  return 0;
}

}  // namespace

Subcommand add_report(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "report", "Say what run files hold: metrics per model, every candidate, failures by cause");
  auto arguments = std::make_shared<ReportArguments>();
  command->add_option("run", arguments->runs, "run files; several are merged")->required();
  command
      ->add_option("--format", arguments->formats,
                   "console (default), json, csv or markdown, or FORMAT=FILE; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--audit", arguments->audits,
                   "audit file of kbench audit: metrics without degenerate problems, too; may be "
                   "repeated")
      ->allow_extra_args(false);
  command->add_option("--p", arguments->options.p, "speedups p of fast_p")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  command->add_option("--k", arguments->options.k, "k of pass@k and fast_p@k")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  command->add_option("--baseline", arguments->options.baseline,
                      "the baseline of speedups (default: the run's first)");
  command->add_flag("--verbose", arguments->options.verbose,
                    "every metric, every candidate and every failure");
  return {command, [arguments] { return report(*arguments); }};
}

}  // namespace kbench::cli
