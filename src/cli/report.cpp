// SPDX-License-Identifier: MIT
#include "kbench/report.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options/report_options.hpp"
#include "kbench/run_file.hpp"

namespace kbench::cli {
namespace {

struct Arguments {
  std::vector<std::filesystem::path> runs, audits;
  ReportArguments report;
};

int report(const Arguments& arguments) {
  check_words(arguments.report);
  std::optional<AuditFile> audits;
  if (!arguments.audits.empty()) audits = read_audits(arguments.audits);
  return report_on(read_runs(arguments.runs), arguments.report, audits);
}

}  // namespace

Subcommand add_report(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "report",
      "Show the results in run files: metrics per model, every candidate, failures by cause");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("run", arguments->runs, "run files; several are merged")->required();
  add_report_options(*command, arguments->report, "--format");
  command
      ->add_option("--audit", arguments->audits,
                   "file of kbench audit: also give metrics without degenerate problems; may be "
                   "repeated")
      ->allow_extra_args(false);
  command
      ->add_flag("--quiet", arguments->report.options.quiet,
                 "on the console, show only the summary and the number of failures by cause")
      ->excludes("--verbose");
  command->add_option("--baseline", arguments->report.options.baseline,
                      "the baseline of speedups (default: the run's first)");
  return {command, [arguments] { return report(*arguments); }};
}

}  // namespace kbench::cli
