// SPDX-License-Identifier: MIT
#include "cli/completion_words.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <string_view>

#include "kbench/comparison.hpp"
#include "kbench/metric.hpp"
#include "kbench/report.hpp"

namespace kbench::cli {
namespace {

using Word = Completions::Word;

/// Commands of which each word that is no option may be a problem.
constexpr std::array<std::string_view, 4> kOfProblems = {"eval", "list", "audit", "baseline"};

std::string first_sentence(const std::string& text) {
  return text.substr(0, text.find_first_of(";\n"));
}

std::string long_name(const CLI::Option& option) {
  const auto& names = option.get_lnames();
  return names.empty() ? "" : "--" + names.front();
}

const CLI::Option* option_named(const CLI::App& app, const std::string& word) {
  for (const CLI::Option* option : app.get_options())
    if (!word.empty() && word.front() == '-' && option->check_name(word)) return option;
  return nullptr;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

template <typename Rows>
void add_names(const Rows& rows, std::string_view after, std::vector<Word>& words) {
  for (const auto& row : rows) words.push_back({std::string(row.name) + std::string(after), ""});
}

/// Values that CLI11 does not know the names of.
void add_values(const std::string& command, const std::string& option, Completions& found,
                const std::function<std::vector<std::string>()>& problems) {
  std::vector<Word>& words = found.words;
  const auto add = [&](std::initializer_list<const char*> texts) {
    for (const char* text : texts) words.push_back({text, ""});
  };
  if (option == "--format" && command == "compare") {
    add_names(comparison_formats(), "", words);
  } else if (option == "--format" || option == "--report") {
    add_names(report_formats(), "", words);
  } else if (option == "--fail-under") {
    for (const Metric& metric : metrics_for(std::array{1.0}, std::array{1}))
      words.push_back({metric.name() + "=", ""});
  } else if (option == "--fail-on") {
    if (command == "compare") return add({"regression", "regression=5%"});
    add({"cheat", "new-failure", "regression", "regression=5%"});
  } else if (option == "--select") {
    add({"problem=", "level=", "model=", "sample=", "tag=", "outcome=", "cause=", "class=", "kind=",
         "flag=", "trust="});
  } else if (option == "--device") {
    add({"auto", "cpu", "cuda", "cuda:0"});
  } else if (option == "--problem") {
    for (std::string& name : problems()) words.push_back({std::move(name), ""});
  } else {
    found.files = true;
  }
}

void add_options(const CLI::App& app, std::vector<Word>& words) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = long_name(*option);
    if (!name.empty() && !option->get_group().empty())
      words.push_back({name, first_sentence(option->get_description())});
  }
}

void add_positional(const std::string& command, Completions& found,
                    const std::function<std::vector<std::string>()>& problems) {
  if (command == "completion") {
    for (const char* shell : {"bash", "zsh", "fish"}) found.words.push_back({shell, ""});
  } else {
    found.files = true;
    if (std::ranges::find(kOfProblems, command) != kOfProblems.end())
      for (std::string& name : problems()) found.words.push_back({std::move(name), ""});
  }
}

}  // namespace

std::vector<std::string> choices_of(const std::string& type_name) {
  std::vector<std::string> choices;
  const std::size_t begin = type_name.find('{'), end = type_name.find('}');
  if (begin == std::string::npos || end == std::string::npos) return choices;
  for (std::size_t at = begin + 1; at <= end;) {
    const std::size_t stop = std::min(type_name.find(',', at), end);
    choices.push_back(type_name.substr(at, stop - at));
    at = stop + 1;
  }
  return choices;
}

Completions complete(const CLI::App& app, const std::vector<std::string>& words, std::size_t index,
                     const std::function<std::vector<std::string>()>& problems) {
  Completions found;
  const std::string current = index < words.size() ? words[index] : "";
  const CLI::App* command = nullptr;
  for (const CLI::App* one : app.get_subcommands(nullptr))
    if (index > 1 && words.size() > 1 && one->get_name() == words[1]) command = one;
  if (command == nullptr) {
    if (index == 1)
      for (const CLI::App* one : app.get_subcommands(nullptr))
        found.words.push_back({one->get_name(), first_sentence(one->get_description())});
    if (current.starts_with("-")) add_options(app, found.words);
  } else {
    const CLI::Option* before = option_named(*command, words[index - 1]);
    if (before != nullptr && takes_value(*before)) {
      for (std::string& choice : choices_of(before->get_type_name()))
        found.words.push_back({std::move(choice), ""});
      if (found.words.empty()) add_values(command->get_name(), long_name(*before), found, problems);
    } else if (current.starts_with("-")) {
      add_options(*command, found.words);
    } else {
      add_positional(command->get_name(), found, problems);
    }
  }
  std::erase_if(found.words, [&](const Word& word) { return !word.text.starts_with(current); });
  return found;
}

}  // namespace kbench::cli
