// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kbench::cli {

/// One subcommand. `app` holds its options; `run` does the work and returns the exit code.
struct Subcommand {
  CLI::App* app = nullptr;
  std::function<int()> run;
};

/// Registers all commands and the options of kbench itself.
std::vector<Subcommand> add_commands(CLI::App& app);

/// The command of that name; throws UsageError that suggests the nearest one.
const CLI::App& command_named(const CLI::App& app, const std::string& name);

/// Each function registers its subcommand on `app`. It is defined in the file of that name.
Subcommand add_eval(CLI::App& app);
Subcommand add_check(CLI::App& app);
Subcommand add_list(CLI::App& app);
Subcommand add_audit(CLI::App& app);
Subcommand add_report(CLI::App& app);
Subcommand add_show(CLI::App& app);
Subcommand add_watch(CLI::App& app);
Subcommand add_compare(CLI::App& app);
Subcommand add_baseline(CLI::App& app);
Subcommand add_import(CLI::App& app);
Subcommand add_export(CLI::App& app);
Subcommand add_doctor(CLI::App& app);
Subcommand add_completion(CLI::App& app);
Subcommand add_help(CLI::App& app);

}  // namespace kbench::cli
