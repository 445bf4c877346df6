// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/command_words.hpp"
#include "cli/commands.hpp"
#include "cli/help/help_text.hpp"
#include "cli/options/configuration.hpp"
#include "cli/options/eval_options.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/tell.hpp"
#include "kbench/error.hpp"
#include "os/descriptor_limit.hpp"
#include "run/process/worker_host.hpp"

namespace {

using kbench::cli::kFault;
using kbench::cli::kUsage;

/// "; did you mean --candidates?" for the first option that its command does not have.
std::string nearest_option(const CLI::App& app, int argc, char** argv) {
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (argc < 2 || command->get_name() != argv[1]) continue;
    std::vector<std::string> known;
    for (const CLI::Option* option : command->get_options())
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (int i = 2; i < argc; ++i) {
      const std::string word = std::string(argv[i]).substr(0, std::string_view(argv[i]).find('='));
      if (word.starts_with("--") && std::ranges::find(known, word) == known.end())
        return kbench::did_you_mean(word, known);
    }
  }
  return "";
}

/// The command line for CLI11, last word first.
std::vector<std::string> words_of(int argc, char** argv) {
  auto words = kbench::cli::command_words({argv + 1, argv + argc});
  std::ranges::reverse(words);
  return words;
}

int run(int argc, char** argv) {
  using namespace kbench;
  CLI::App app;
  const std::vector<cli::Subcommand> commands = cli::add_commands(app);
  if (argc < 2) {
    cli::print_help(app);
    return 0;
  }
  // CLI11 would only say that a command is missing.
  if (*argv[1] != '-') cli::command_named(app, argv[1]);
  try {
    app.parse(words_of(argc, argv));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    cli::tell("kbench: {}{}; see kbench {}--help\n", error.what(), nearest_option(app, argc, argv),
              argc > 1 && *argv[1] != '-' ? argv[1] + std::string(" ") : "");
    return kUsage;
  }
  for (const auto& command : commands) {
    if (!command.app->parsed()) continue;
    cli::apply_configuration(*command.app, *app.get_subcommand("eval"));
    return command.run();
  }
  return kUsage;
}

int say(const std::exception& error, int code) {
  kbench::cli::tell("kbench: {}\n", error.what());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    kbench::raise_descriptor_limit();
    const int code = run(argc, argv);
    std::cout.flush();
    return code;
  } catch (const kbench::run::Cancelled&) {
    kbench::cli::tell("\nkbench: interrupted\n");
    return kbench::cli::kInterrupted;
  } catch (const kbench::UsageError& error) {
    return say(error, kUsage);
  } catch (const std::exception& error) {
    return say(error, kFault);
  }
}
