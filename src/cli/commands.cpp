// SPDX-License-Identifier: MIT
#include "cli/commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/help/help_text.hpp"
#include "cli/help/option_groups.hpp"
#include "kbench/error.hpp"

namespace kbench::cli {

std::vector<Subcommand> add_commands(CLI::App& app) {
  app.description("kbench: the referee for GPU kernels");
  use_help_text(app);
  app.set_version_flag("--version", std::string(kVersion), "the version of kbench");
  app.require_subcommand(1);
  std::vector<Subcommand> commands{
      add_eval(app),   add_check(app),  add_list(app),       add_audit(app),    add_report(app),
      add_show(app),   add_watch(app),  add_compare(app),    add_baseline(app), add_import(app),
      add_export(app), add_doctor(app), add_completion(app), add_help(app)};
  // Set after the commands are added, because a command would inherit it.
  app.footer(
      "kbench help COMMAND shows a command's options. Exit codes: 0 the run finished, whatever the "
      "outcomes; 1 a fault of kbench or the machine; 2 usage; 3 a gate was not met, or check found "
      "a file that would not be scored; 130 interrupted.");
  for (CLI::App* command : app.get_subcommands(nullptr))
    for (const char* name : {"--help", "--help-all"})
      command->get_option(name)->group(group::kHelp);
  return commands;
}

const CLI::App& command_named(const CLI::App& app, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (command->get_name() == name) return *command;
    names.push_back(command->get_name());
  }
  throw UsageError(fmt::format("there is no command '{}'; there are {}{}", name,
                               fmt::join(names, ", "), did_you_mean(name, names)));
}

}  // namespace kbench::cli
