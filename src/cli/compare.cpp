// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <memory>

#include "cli/commands.hpp"
#include "cli/help/option_groups.hpp"
#include "cli/options/report_options.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/tell.hpp"
#include "cli/terminal/terminal.hpp"
#include "kbench/error.hpp"
#include "report/compare/comparison.hpp"

namespace kbench::cli {
namespace {

struct CompareArguments {
  std::vector<std::filesystem::path> runs;
  std::vector<std::string> formats;
  std::string gate;
  std::vector<std::string> selections;
  ComparisonOptions options;
};

int compare(const CompareArguments& arguments, bool is_gated) {
  // Checks the arguments before it reads long files.
  std::vector<ComparisonFile> report_files;
  for (const std::string& format : arguments.formats)
    report_files.push_back(comparison_file(format));
  ComparisonOptions options = arguments.options;
  options.select = selection_of(arguments.selections);
  if (is_gated) options.regression = parse_regression_gate(arguments.gate);
  if (arguments.runs.size() < 2)
    throw UsageError(fmt::format("there is nothing to compare {} with: name two run files or more",
                                 arguments.runs.front().string()));
  fit_terminal(options.color, options.width);
  std::vector<ComparedRun> runs;
  for (const std::filesystem::path& path : arguments.runs)
    runs.push_back({.name = path.string(), .run = read_run(path)});
  const Comparison comparison = build_comparison(std::move(runs), options);
  write_comparison(comparison, report_files, std::cout);
  if (!is_gated) return 0;
  const std::vector<std::string> sentences = regressions(comparison);
  for (const std::string& sentence : sentences) tell("kbench: {}\n", sentence);
  return sentences.empty() ? 0 : kGate;
}

}  // namespace

Subcommand add_compare(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "compare", "Compare run files with the first: outcomes, times and speedups, regressions");
  auto arguments = std::make_shared<CompareArguments>();
  command->option_defaults()->group(group::kShown);
  command->add_option("RUN", arguments->runs, "run files; the others are compared with the first")
      ->required();
  add_select_option(*command, arguments->selections);
  command->add_flag("--verbose", arguments->options.verbose, "list every sample");
  command->option_defaults()->group(group::kOutput);
  command
      ->add_option("--format", arguments->formats,
                   "format, on standard output or in a file: console, json, csv or markdown; may "
                   "be repeated (default: console)")
      ->type_name("FORMAT[=FILE]")
      ->allow_extra_args(false);
  command->option_defaults()->group(group::kGates);
  const CLI::Option* gate =
      command
          ->add_option("--fail-on", arguments->gate,
                       "regression, or regression=FRACTION: exit 3 if a sample is no longer "
                       "correct, or is slower by more than this fraction (5% or 0.05 if none is "
                       "given) and its interval excludes 1")
          ->type_name("CONDITION");
  return {command, [arguments, gate] { return compare(*arguments, gate->count() > 0); }};
}

}  // namespace kbench::cli
