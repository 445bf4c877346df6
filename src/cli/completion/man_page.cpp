// SPDX-License-Identifier: MIT
#include "cli/completion/man_page.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>

#include "base/version.hpp"
#include "cli/completion/completion_words.hpp"
#include "cli/options/examples.hpp"

namespace kbench::cli {
namespace {

struct ExitRow {
  int code;
  const char* meaning;
};
constexpr std::array kExitCodes = {
    ExitRow{0, "the run finished, whatever the candidates did"},
    ExitRow{1, "a fault of kbench or the machine"},
    ExitRow{2, "usage"},
    ExitRow{3, "a gate was not met, or check found what would not be scored"},
    ExitRow{130, "interrupted"},
};

/// Text that roff sets as it is.
std::string roff(std::string_view text) {
  std::string result;
  bool begins_line = true;
  for (const char c : text) {
    // A line that begins with these would be a request.
    if (begins_line && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
    begins_line = c == '\n';
  }
  return result;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// What stands for an option's value: its choices, or what it is.
std::string value_name(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  const std::string type = option.get_type_name();
  std::string choices;
  for (const std::string& choice : choices_of(type))
    choices += (choices.empty() ? "" : "|") + choice;
  if (!choices.empty()) return choices;
  return type.substr(0, type.find_first_of(":{= "));
}

std::string option_entry(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames())
    names += (names.empty() ? "" : ", ") + ("\\fB" + roff("-" + name) + "\\fR");
  for (const std::string& name : option.get_lnames())
    names += (names.empty() ? "" : ", ") + ("\\fB" + roff("--" + name) + "\\fR");
  if (names.empty()) names = "\\fI" + roff(option.get_name(true)) + "\\fR";
  const std::string value = option.nonpositional() ? value_name(option) : "";
  if (!value.empty()) names += " \\fI" + roff(value) + "\\fR";
  std::string text = fmt::format(".TP\n{}\n{}", names, roff(option.get_description()));
  if (const std::string at_first = option.get_default_str(); !at_first.empty())
    text += fmt::format(" (default: {})", roff(at_first));
  return text + "\n";
}

std::string header(const std::string& name) {
  return fmt::format(".TH {} 1 \"\" \"kbench {}\" \"kbench\"\n", upper(name), kVersion);
}

std::string exit_codes() {
  std::string text = ".SH EXIT STATUS\n";
  for (const ExitRow& row : kExitCodes) text += fmt::format(".TP\n{}\n{}\n", row.code, row.meaning);
  return text;
}

std::string examples_section(const std::string& command) {
  std::string text;
  for (const Example& example : examples()) {
    if (example.command != command) continue;
    text += fmt::format("{}.TP\n.B {}\n{}\n", text.empty() ? ".SH EXAMPLES\n" : "",
                        roff(example.line), roff(example.what));
  }
  return text;
}

std::string command_page(const CLI::App& command) {
  const std::string name = "kbench-" + command.get_name();
  std::string positionals, options, synopsis;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    if (option->get_positional()) {
      positionals += option_entry(*option);
      const std::string word = "\\fI" + roff(option->get_name(true)) + "\\fR";
      synopsis += option->get_required() ? " " + word : " [" + word + "]";
      if (option->get_items_expected_max() > 1) synopsis += "…";
    } else {
      options += option_entry(*option);
    }
  }
  return header(name) +
         fmt::format(".SH NAME\n{} \\- {}\n", roff(name), roff(command.get_description())) +
         fmt::format(".SH SYNOPSIS\n.B kbench {}\n[\\fIoptions\\fR]{}\n", roff(command.get_name()),
                     synopsis) +
         (positionals.empty() ? "" : ".SH ARGUMENTS\n" + positionals) + ".SH OPTIONS\n" + options +
         examples_section(command.get_name()) + exit_codes() + ".SH SEE ALSO\n.BR kbench (1)\n";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> man_pages(const CLI::App& app) {
  std::string commands, see_also;
  std::vector<std::pair<std::string, std::string>> pages;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    commands += fmt::format(".TP\n.B {}\n{}\n", roff(command->get_name()),
                            roff(command->get_description()));
    see_also += fmt::format("{}.BR {} (1)", see_also.empty() ? "" : ",\n",
                            roff("kbench-" + command->get_name()));
    pages.emplace_back("kbench-" + command->get_name(), command_page(*command));
  }
  pages.emplace_back("kbench",
                     header("kbench") + ".SH NAME\nkbench \\- the referee for GPU kernels\n" +
                         ".SH SYNOPSIS\n.B kbench\n\\fIcommand\\fR [\\fIoptions\\fR]\n" +
                         ".SH DESCRIPTION\nCompiles candidate kernels, checks them against the "
                         "reference on random inputs, times both, and reports.\n.SH COMMANDS\n" +
                         commands + exit_codes() + ".SH SEE ALSO\n" + see_also + "\n");
  return pages;
}

}  // namespace kbench::cli
