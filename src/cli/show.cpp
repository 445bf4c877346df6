// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/json/dumped.hpp"
#include "cli/commands.hpp"
#include "cli/help/option_groups.hpp"
#include "cli/options/format_option.hpp"
#include "cli/options/report_options.hpp"
#include "cli/terminal/terminal.hpp"
#include "kbench/error.hpp"
#include "report/format/candidate_report.hpp"
#include "report/text/workflow_commands.hpp"

namespace kbench::cli {
namespace {

/// More records than this are an error that asks for a narrower choice.
constexpr std::size_t kMostShown = 20;

struct ShowArguments {
  std::filesystem::path run;
  std::string name;
  std::vector<std::string> selections;
  bool json = false;
  CandidateReportOptions options;
};

int show(const ShowArguments& arguments) {
  const Selection selection = selection_of(arguments.selections);
  if (arguments.name.empty() && selection.empty())
    throw UsageError(
        "nothing to show: name a PROBLEM, PROBLEM/SAMPLE or candidate, or choose by --select");
  RunFile run = read_run(arguments.run);
  selection.choose_from(run, "the run");
  const std::vector<std::size_t> found = named_records(run, arguments.name, selection);
  if (arguments.json) {
    nlohmann::json all = nlohmann::json::array();
    for (const std::size_t index : found) all.push_back(candidate_json(run, run.records[index]));
    std::cout << report::json_without_commands(dumped(all, 1)) << '\n';
    return 0;
  }
  CandidateReportOptions options = arguments.options;
  fit_terminal(options.color, options.width);
  if (found.size() > kMostShown)
    throw UsageError(
        fmt::format("{} records match: name a sample (PROBLEM/SAMPLE), narrow --select, or list "
                    "them with kbench report --select",
                    found.size()));
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i > 0) std::cout << '\n';
    write_candidate(run, run.records[found[i]], options, std::cout);
  }
  return 0;
}

}  // namespace

Subcommand add_show(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "show", "Everything about one candidate of a run: verdict, times, errors, log and source");
  auto arguments = std::make_shared<ShowArguments>();
  command->option_defaults()->group(group::kShown);
  command->add_option("RUN", arguments->run, "run file")->required();
  command->add_option(
      "PROBLEM", arguments->name,
      "PROBLEM or PROBLEM/SAMPLE: a problem's name, or its last part; it may contain * "
      "and ?; or a candidate's file; may be omitted with --select");
  add_select_option(*command, arguments->selections);
  command->option_defaults()->group(group::kOutput);
  command->add_flag("--source", arguments->options.whole_source,
                    "the whole source, not only the annotated lines");
  command->add_flag("--log", arguments->options.whole_log, "the whole log, not its start");
  add_format_option(*command, arguments->json);
  return {command, [arguments] { return show(*arguments); }};
}

}  // namespace kbench::cli
