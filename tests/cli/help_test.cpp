// SPDX-License-Identifier: MIT
// The text of --help: every command and every option, at any width.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <regex>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/help/help_text.hpp"
#include "cli/help/option_groups.hpp"
#include "report/text/text.hpp"

namespace kbench::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class HelpText : public testing::Test {
 protected:
  HelpText() : commands_(add_commands(app_)), apps_{&app_} {
    for (const CLI::App* command : app_.get_subcommands(nullptr)) apps_.push_back(command);
  }

  static std::vector<const CLI::Option*> shown_options(const CLI::App& app) {
    return app.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
  }

  std::string help_of(const std::string& command, bool all) const {
    return help_text(*app_.get_subcommand(command), all, 80);
  }

  CLI::App app_;
  std::vector<Subcommand> commands_;
  std::vector<const CLI::App*> apps_;  ///< kbench itself and all commands
};

TEST_F(HelpText, EveryOptionBelongsToAGroup) {
  for (const CLI::App* app : apps_)
    for (const CLI::Option* option : shown_options(*app))
      EXPECT_THAT(group::all(), Contains(std::string_view(option->get_group())))
          << app->get_name() << " " << option->get_name();
}

TEST_F(HelpText, EveryOptionIsInTheWholeHelp) {
  for (const CLI::App* app : apps_) {
    const std::string text = help_text(*app, true, 80);
    for (const CLI::Option* option : shown_options(*app))
      for (const std::string& name : option->get_lnames())
        EXPECT_THAT(text, HasSubstr("--" + name)) << app->get_name();
  }
}

TEST_F(HelpText, NoLineIsWiderThanTheTerminal) {
  for (const std::size_t width : {24u, 40u, 63u, 64u, 80u, 132u})
    for (const CLI::App* app : apps_)
      for (const bool all : {false, true}) {
        std::istringstream lines(help_text(*app, all, width));
        for (std::string line; std::getline(lines, line);) {
          // A command line is not broken inside a word.
          const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
          std::string_view words = std::string_view(line).substr(begin);
          if (words.ends_with(" \\")) words.remove_suffix(2);
          if (words.find(' ') == std::string_view::npos) continue;
          EXPECT_LE(report::columns(line), width) << app->get_name() << ": " << line;
        }
      }
}

TEST_F(HelpText, ValuesHaveNamesThatTellWhatTheyAre) {
  const std::regex internals(
      R"(TEXT|U?INT\b|FLOAT|ENUM|BOOLEAN|POSITIVE|Excludes|REQUIRED|:\{|\{on\}|\{false\}| in \[)");
  for (const CLI::App* app : apps_) {
    const std::string text = help_text(*app, true, 80);
    std::smatch found;
    EXPECT_FALSE(std::regex_search(text, found, internals)) << app->get_name() << ": " << found[0];
    for (const CLI::Option* option : shown_options(*app)) {
      const bool has_value = option->nonpositional() && option->get_items_expected_max() > 0;
      EXPECT_EQ(has_value && value_name(*option).empty(), false) << option->get_name();
    }
  }
}

TEST_F(HelpText, EvalShowsTheTwelveMostUsedOptions) {
  ASSERT_EQ(most_used("eval").size(), 12u);
  const std::string text = help_of("eval", false);
  std::size_t last = 0;
  for (const std::string_view name : most_used("eval")) {
    const std::size_t at = text.find("\n  " + std::string(name) + " ");
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_GT(at, last) << name << ": they stand in the order of the table";
    last = at;
  }
  EXPECT_THAT(text, Not(HasSubstr("--nvcc-timeout")));
  EXPECT_THAT(text, HasSubstr("--help-all"));
  EXPECT_THAT(help_of("eval", true), HasSubstr("--nvcc-timeout"));
}

TEST_F(HelpText, AShellCanReadABrokenCommandLine) {
  const std::string text = help_text(*app_.get_subcommand("eval"), false, 40);
  EXPECT_THAT(text, HasSubstr("  kbench eval --problem 19_ReLU \\\n    --candidate relu.cu\n"));
}

}  // namespace
}  // namespace kbench::cli
