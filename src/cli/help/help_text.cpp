// SPDX-License-Identifier: MIT
#include "cli/help/help_text.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/help/examples.hpp"
#include "cli/help/option_groups.hpp"
#include "cli/terminal/terminal.hpp"
#include "report/text/text.hpp"

namespace kbench::cli {
namespace {

using report::columns;
using report::wrapped;

constexpr std::size_t kNoTerminal = 80;
constexpr std::size_t kNarrow = 64;  // below, a description goes under its term
constexpr std::size_t kTerm = 2, kWidestTerm = 24, kUnderTerm = 6;

/// A term of a list and its description.
using Entry = std::pair<std::string, std::string>;
using Options = std::vector<const CLI::Option*>;

/// Writes text in lines that are not wider than the terminal.
class HelpLines {
 public:
  explicit HelpLines(std::size_t width) : width_(width) {}

  void heading(std::string_view text) { text_ += fmt::format("\n{}:\n", text); }

  void paragraph(std::string_view text, std::size_t indent, std::size_t hanging) {
    std::size_t before = indent;
    const std::size_t room = width_ - std::min(width_, std::max(indent, hanging));
    for (const std::string& part : wrapped(text, room)) {
      text_ += std::string(before, ' ') + part + '\n';
      before = hanging;
    }
  }

  /// A list whose descriptions begin in one column, or under their terms if there is no room.
  void list(const std::vector<Entry>& entries) {
    std::size_t term = 0;
    for (const auto& [name, text] : entries)
      if (columns(name) <= kWidestTerm) term = std::max(term, columns(name));
    const std::size_t column = std::max(kTerm + term + 2, kUnderTerm);
    for (const auto& [name, text] : entries) {
      if (width_ < kNarrow || columns(name) > term) {
        paragraph(name, kTerm, kUnderTerm);
        const std::size_t indent = width_ < kNarrow ? kUnderTerm : column;
        paragraph(text, indent, indent);
        continue;
      }
      std::string before = std::string(kTerm, ' ') + report::padded(name, column - kTerm);
      for (const std::string& part : wrapped(text, width_ - column)) {
        text_ += before + part + '\n';
        before.assign(column, ' ');
      }
    }
  }

  /// A command line, broken so that a shell can still read it.
  void command_line(std::string_view line) {
    constexpr std::string_view kGoesOn = " \\";
    std::size_t indent = 2;
    while (indent + columns(line) > width_) {
      const std::size_t room = width_ - std::min(width_, indent + kGoesOn.size());
      std::size_t cut = line.rfind(' ', room);
      if (cut == std::string_view::npos) cut = line.find(' ');
      if (cut == std::string_view::npos) break;
      text_ += fmt::format("{:{}}{}{}\n", "", indent, line.substr(0, cut), kGoesOn);
      line.remove_prefix(cut + 1);
      indent = 4;
    }
    text_ += fmt::format("{:{}}{}\n", "", indent, line);
  }

  std::string take() { return std::move(text_); }

 private:
  std::size_t width_;
  std::string text_;
};

bool takes_several(const CLI::Option& option) {
  return option.get_expected_max() >= CLI::detail::expected_max_vector_size;
}

std::string positional_name(const CLI::Option& option) {
  return option.get_name(true) + (takes_several(option) ? "…" : "");
}

/// "-h, --help", "--out FILE", "--profile[=ncu]".
std::string term_of(const CLI::Option& option) {
  if (option.get_positional()) return positional_name(option);
  std::string text;
  for (const std::string& name : option.get_snames()) text += "-" + name + ", ";
  const std::string value = value_name(option);
  const std::string between = value.empty() || value.starts_with("[=") ? "" : " ";
  bool first = true;
  for (const std::string& name : option.get_lnames()) {
    text += (first ? "--" : ", --") + name + (first ? between + value : "");
    first = false;
  }
  return text;
}

std::string description_of(const CLI::Option& option) {
  std::string text = option.get_description();
  std::string usual = option.get_default_str();
  if (usual.starts_with('[') && usual.ends_with(']')) usual = usual.substr(1, usual.size() - 2);
  if (!usual.empty() && !option.get_required()) text += fmt::format(" (default: {})", usual);
  return text;
}

std::vector<Entry> entries_of(const Options& options) {
  std::vector<Entry> entries;
  for (const CLI::Option* option : options)
    entries.emplace_back(term_of(*option), description_of(*option));
  return entries;
}

Options options_of(const CLI::App& app, std::string_view group) {
  return app.get_options([&](const CLI::Option* option) {
    return option->nonpositional() && option->get_group() == group;
  });
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() == nullptr ? "kbench" : "kbench " + app.get_name();
}

std::string usage_of(const CLI::App& app) {
  std::string text = "Usage: " + full_name(app);
  if (app.get_parent() == nullptr) text += " COMMAND";
  text += " [OPTION]…";
  for (const CLI::Option* option : app.get_options(
           [](const CLI::Option* it) { return it->get_positional() && !it->get_group().empty(); }))
    text += option->get_required() ? " " + positional_name(*option)
                                   : " [" + positional_name(*option) + "]";
  return text;
}

/// Writes the most used options, and where the others are. Returns false if there are none.
bool write_most_used(const CLI::App& app, HelpLines& lines) {
  const auto names = most_used(app.get_name());
  if (names.empty()) return false;
  Options options;
  for (const std::string_view name : names) options.push_back(app.get_option(std::string(name)));
  lines.heading("Most used options");
  lines.list(entries_of(options));
  std::size_t others = 0;
  std::string others_groups;
  for (const std::string_view group : group::all()) {
    const Options of_group = options_of(app, group);
    if (group == group::kHelp || of_group.empty()) continue;
    others += of_group.size();
    others_groups += fmt::format("{}{}", others_groups.empty() ? "" : ", ", group);
  }
  lines.heading(group::kHelp);
  lines.list(entries_of(options_of(app, group::kHelp)));
  lines.paragraph("", 0, 0);
  lines.paragraph(fmt::format("--help-all shows {} more options, in groups: {}.",
                              others - options.size(), others_groups),
                  0, 0);
  return true;
}

void write_commands(const CLI::App& app, HelpLines& lines) {
  std::vector<Entry> entries;
  for (const CLI::App* command : app.get_subcommands(nullptr))
    entries.emplace_back(command->get_name(), command->get_description());
  if (entries.empty()) return;
  lines.heading("Commands");
  lines.list(entries);
}

void write_examples(const CLI::App& app, HelpLines& lines) {
  bool any = false;
  for (const Example& example : examples()) {
    if (example.command != app.get_name()) continue;
    if (!std::exchange(any, true)) lines.heading("Examples");
    lines.command_line(example.line);
    lines.paragraph(example.what, 6, 6);
  }
}

class HelpFormatter : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string /*name*/,
                        CLI::AppFormatMode mode) const override {
    bool color = false;
    int width = kNoTerminal;
    fit_terminal(color, width);
    return help_text(*app, mode == CLI::AppFormatMode::All, static_cast<std::size_t>(width));
  }
};

}  // namespace

std::string value_name(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

std::string help_text(const CLI::App& app, bool all, std::size_t width) {
  HelpLines lines(width);
  lines.paragraph(app.get_description(), 0, 0);
  lines.paragraph("", 0, 0);
  lines.paragraph(usage_of(app), 0, 7);
  write_commands(app, lines);
  const Options positionals = app.get_options([](const CLI::Option* option) {
    return option->get_positional() && !option->get_group().empty();
  });
  if (!positionals.empty()) {
    lines.heading("Arguments");
    lines.list(entries_of(positionals));
  }
  if (all || !write_most_used(app, lines))
    for (const std::string_view group : group::all()) {
      const Options options = options_of(app, group);
      if (options.empty()) continue;
      lines.heading(group);
      lines.list(entries_of(options));
    }
  write_examples(app, lines);
  if (const std::string footer = app.get_footer(); !footer.empty()) {
    lines.paragraph("", 0, 0);
    lines.paragraph(footer, 0, 0);
  }
  std::string text = lines.take();
  if (all)
    for (const CLI::App* command : app.get_subcommands(nullptr))
      text += fmt::format("\n{}\n\n{}", std::string(std::min<std::size_t>(width, 80), '='),
                          help_text(*command, true, width));
  return text;
}

void use_help_text(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormatter>());
  app.option_defaults()->group(group::kHelp);
  app.set_help_flag("-h,--help", "this help");
  app.set_help_all_flag("--help-all", "all options");
}

void print_help(const CLI::App& app) {
  std::cout << HelpFormatter().make_help(&app, "", CLI::AppFormatMode::Normal);
}

}  // namespace kbench::cli
