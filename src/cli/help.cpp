// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "cli/commands.hpp"
#include "cli/documents.hpp"
#include "cli/help/help_text.hpp"
#include "cli/help/option_groups.hpp"

namespace kbench::cli {

Subcommand add_help(CLI::App& app) {
  CLI::App* command = app.add_subcommand("help", "Show the help of a command, or a document");
  command->option_defaults()->group(group::kShown);
  auto name = std::make_shared<std::string>();
  command
      ->add_option("TOPIC", *name,
                   "a command, plan (the plan language) or run-file (its fields); none: kbench "
                   "itself")
      ->type_name("");
  return {command, [name, &app] {
            const auto document = std::ranges::find(documents(), *name, &Document::name);
            if (document != documents().end())
              std::cout << document->text;
            else
              print_help(name->empty() ? app : command_named(app, *name));
            return 0;
          }};
}

}  // namespace kbench::cli
