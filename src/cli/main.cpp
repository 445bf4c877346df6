// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.hpp"
#include "kbench/error.hpp"
#include "kbench/version.hpp"

namespace {

constexpr int kFault = 1;
constexpr int kUsage = 2;

/// CLI11 would only say that a command is missing.
void check_command(std::string_view word, const std::vector<kbench::cli::Subcommand>& commands) {
  if (word.empty() || word.front() == '-') return;
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const auto& command : commands) names.push_back(command.app->get_name());
  if (std::ranges::find(names, word) != names.end()) return;
  throw kbench::UsageError(
      fmt::format("there is no command '{}'; there are {}", word, fmt::join(names, ", ")));
}

int run(int argc, char** argv) {
  using namespace kbench;
  CLI::App app{"kbench: the referee for GPU kernels"};
  app.set_version_flag("--version", std::string(kVersion));
  app.require_subcommand(1);
  app.footer(
      "kbench COMMAND --help tells a command's options. Exit codes: 0 the run finished, "
      "whatever the candidates did; 1 a fault of kbench or the machine; 2 usage; 3 a gate "
      "was not met, or check found what would not be scored; 130 interrupted.");
  const std::vector<cli::Subcommand> commands{
      cli::add_eval(app),     cli::add_check(app),  cli::add_list(app),   cli::add_audit(app),
      cli::add_report(app),   cli::add_show(app),   cli::add_watch(app),  cli::add_compare(app),
      cli::add_baseline(app), cli::add_import(app), cli::add_export(app), cli::add_doctor(app)};
  check_command(argc > 1 ? argv[1] : "", commands);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    fmt::print(stderr, "kbench: {}; kbench --help tells more\n", error.what());
    return kUsage;
  }
  for (const auto& command : commands)
    if (command.app->parsed()) return command.run();
  return kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int code = run(argc, argv);
    std::cout.flush();
    return code;
  } catch (const kbench::UsageError& error) {
    fmt::print(stderr, "kbench: {}\n", error.what());
    return kUsage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "kbench: {}\n", error.what());
    return kFault;
  }
}
