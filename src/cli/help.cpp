// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"
#include "cli/help/help_text.hpp"
#include "cli/help/option_groups.hpp"

namespace kbench::cli {

Subcommand add_help(CLI::App& app) {
  CLI::App* command = app.add_subcommand("help", "Show the help of kbench or of a command");
  command->option_defaults()->group(group::kShown);
  auto name = std::make_shared<std::string>();
  command->add_option("COMMAND", *name, "the command (default: kbench itself)");
  return {command, [name, &app] {
            print_help(name->empty() ? app : command_named(app, *name));
            return 0;
          }};
}

}  // namespace kbench::cli
