// SPDX-License-Identifier: MIT
#include "kernelbench/export.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/help/option_groups.hpp"
#include "cli/options/report_options.hpp"
#include "cli/terminal/tell.hpp"
#include "kbench/error.hpp"

namespace kbench::cli {
namespace {

struct ExportArguments {
  std::vector<std::filesystem::path> runs;
  std::string format;
  std::vector<std::string> selections;
  ExportOptions options;
};

int export_to(const ExportArguments& arguments) {
  const ExportFormat& format = export_format(arguments.format);
  const Selection selection = selection_of(arguments.selections);
  // The other program computes its own rates. They would be too high without the failures.
  if (selection.lists_some())
    throw UsageError(
        "kbench export selects only by problem, level, model, sample or tag; the other fields "
        "choose what kbench report and kbench compare list");
  RunFile run = read_runs(arguments.runs);
  selection.choose_from(run, "the run");
  const Export made = format.make(run, arguments.options);
  write_export(made, arguments.options);
  for (const std::string& note : made.notes) tell("kbench: {}\n", note);
  for (const std::string& line : made.summary) fmt::print("{}\n", line);
  return 0;
}

std::string formats_help() {
  std::string text;
  for (const ExportFormat& format : export_formats())
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", format.name, format.meaning);
  return text;
}

}  // namespace

Subcommand add_export(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("export", "Convert run files to the file format of another program");
  auto arguments = std::make_shared<ExportArguments>();
  command->option_defaults()->group(group::kInput);
  command->add_option("RUN", arguments->runs, "run files; several are merged")->required();
  add_select_option(*command, arguments->selections);
  command->option_defaults()->group(group::kOutput);
  command->add_option("--format", arguments->format, formats_help())
      ->type_name("FORMAT")
      ->required();
  command
      ->add_option("--out", arguments->options.out, "folder to write to; kbench replaces no file")
      ->type_name("FOLDER")
      ->required();
  command->add_option("--k", arguments->options.k, "k of pass@k")
      ->type_name("K[,…]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  return {command, [arguments] { return export_to(*arguments); }};
}

}  // namespace kbench::cli
