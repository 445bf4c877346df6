// SPDX-License-Identifier: MIT
#include "kbench/report.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/commands.hpp"
#include "cli/help/option_groups.hpp"
#include "cli/options/option_checks.hpp"
#include "cli/options/report_options.hpp"
#include "kbench/run_file.hpp"

namespace kbench::cli {
namespace {

constexpr const char* kLevels = "levels";
constexpr const char* kIntervals = "intervals";

struct Arguments {
  std::vector<std::filesystem::path> runs, audits;
  std::vector<std::string> latex;
  ReportArguments report;
};

int report(Arguments& arguments) {
  check_words(arguments.report);
  const auto adds = [&](std::string_view name) {
    return std::ranges::find(arguments.latex, name) != arguments.latex.end();
  };
  arguments.report.options.latex_levels = adds(kLevels);
  arguments.report.options.latex_intervals = adds(kIntervals);
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
  command->option_defaults()->group(group::kShown);
  command->add_option("RUN", arguments->runs, "run files; several are merged")->required();
  command
      ->add_option("--audit", arguments->audits,
                   "file of kbench audit: also give metrics without degenerate problems; may be "
                   "repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--latex", arguments->latex,
          "what the LaTeX table also has: a row per level, 95 % intervals; may be repeated")
      ->type_name("PART[,…]")
      ->check(one_of({kLevels, kIntervals}))
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      ->add_option("--baseline", arguments->report.options.baseline,
                   "the baseline of speedups (default: the run's first)")
      ->type_name("NAME");
  add_report_options(*command, arguments->report,
                     "on the console, only the summary and the number of failures by cause");
  return {command, [arguments] { return report(*arguments); }};
}

}  // namespace kbench::cli
