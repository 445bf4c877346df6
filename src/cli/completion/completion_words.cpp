// SPDX-License-Identifier: MIT
#include "cli/completion/completion_words.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "cli/documents.hpp"
#include "kbench/candidate.hpp"
#include "kbench/metrics.hpp"
#include "kbench/report.hpp"
#include "kernelbench/export.hpp"
#include "record/baseline.hpp"
#include "report/compare/comparison.hpp"
#include "report/model/run_settings.hpp"

namespace kbench::cli {
namespace {

using Word = Completions::Word;

/// Commands whose positional words are problems.
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

/// The values that an option takes, if they are few and known: "cold", "warm".
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

/// Completes one subcommand's line.
class Line {
 public:
  Line(const CLI::App& command, const std::vector<std::string>& words, std::size_t index,
       const CompletionSources& sources)
      : command_(command),
        name_(command.get_name()),
        current_(index < words.size() ? words[index] : ""),
        sources_(sources) {
    for (std::size_t i = 2; i < std::min(index, words.size()); ++i) {
      const CLI::Option* option = option_named(command, words[i]);
      if (option == nullptr && !words[i].starts_with("-")) positionals_.push_back(words[i]);
      if (option != nullptr && takes_value(*option)) ++i;
    }
    before_ = option_named(command, words[index - 1]);
  }

  Completions complete() {
    if (before_ != nullptr && takes_value(*before_)) {
      for (const std::string& choice : choices_of(before_->get_type_name())) add(choice);
      if (found_.words.empty()) add_values(long_name(*before_));
    } else if (current_.starts_with("-")) {
      add_options();
    } else {
      add_positional();
    }
    return std::move(found_);
  }

 private:
  void add(std::string text) { found_.words.push_back({std::move(text), ""}); }

  template <typename Rows>
  void add_names(const Rows& rows) {
    for (const auto& row : rows) add(std::string(row.name));
  }

  /// Adds option values that CLI11 does not know.
  void add_values(const std::string& option) {
    if (option == "--format" && name_ == "export") return add_names(export_formats());
    if (option == "--format") {
      if (current_.find('=') != std::string::npos) found_.files = true;
      return name_ == "compare" ? add_names(comparison_formats()) : add_names(report_formats());
    }
    if (option == "--fail-under") return add_metrics();
    if (option == "--select") return add_selections();
    const auto add_all = [&](std::initializer_list<const char*> texts) {
      for (const char* text : texts) add(text);
    };
    if (option == "--fail-on") {
      if (name_ != "compare") add_all({"cheat", "new-failure"});
      return add_all({"regression", "regression=5%"});
    }
    if (option == "--device") return add_all({"auto", "cpu", "cuda", "cuda:0"});
    if (option == "--set")
      for (const std::string& name : sources_.constants(positionals_)) add(name + "=");
    else if (option == "--problem")
      for (std::string& name : sources_.problems()) add(std::move(name));
    else if (option == "--baseline" && name_ == "report")
      add_baselines();
    else
      found_.files = true;
  }

  void add_metrics() {
    std::set<std::string> names;
    for (const Metric& metric : metrics_for(std::array{1.0}, std::array{1}))
      for (const char* after : {"=", "@ci="}) names.insert(metric.name() + after);
    for (const std::string& name : names) add(name);
  }

  void add_baselines() {
    for (const RunFile& run : runs())
      for (const std::string& name : report::known_baselines(run)) add(name);
    add(kBestBaseline);
  }

  /// Adds the names of fields, or after `FIELD=` the values of that field.
  void add_selections() {
    const std::size_t equals = current_.find('=');
    if (equals == std::string::npos) {
      for (const Selection::Field& field : Selection::fields()) add(std::string(field.name) + "=");
      return;
    }
    const bool negated = equals > 0 && current_[equals - 1] == '!';
    const std::string name = current_.substr(0, equals - (negated ? 1 : 0));
    // Keep the values before the last comma.
    const std::string before = current_.substr(0, current_.find_last_of(",=") + 1);
    std::set<std::string> values;
    const Selection::Take take = [&](std::string_view text) { values.emplace(text); };
    if (name == "outcome")
      for (const OutcomeRow& row : outcomes()) take(row.name);
    for (const Selection::Field& field : Selection::fields()) {
      if (field.name != name || name == "outcome") continue;
      for (const RunFile& run : runs()) {
        if (field.of_plan())
          for (const ManifestEntry& entry : run.manifest) field.of_entry(entry, take);
        else
          for (const Record& record : run.records) field.of_record(record, take);
      }
    }
    for (const std::string& value : values) add(before + value);
  }

  /// The run files on the command line that can be read.
  std::vector<RunFile> runs() const {
    std::vector<RunFile> runs;
    const bool first_alone = name_ == "show" || name_ == "watch";
    for (std::size_t i = 0;
         i < (first_alone ? std::min<std::size_t>(positionals_.size(), 1) : positionals_.size());
         ++i)
      if (auto run = sources_.run(positionals_[i])) runs.push_back(std::move(*run));
    return runs;
  }

  template <typename Texts>
  void add_of_runs(Texts texts_of) {
    std::set<std::string> texts;
    for (const RunFile& run : runs())
      for (const ManifestEntry& entry : run.manifest)
        texts_of(entry, [&](const std::string& text) { texts.insert(text); });
    for (const std::string& text : texts) add(text);
  }

  void add_options() {
    for (const CLI::Option* option : command_.get_options()) {
      const std::string name = long_name(*option);
      if (!name.empty() && !option->get_group().empty())
        found_.words.push_back({name, first_sentence(option->get_description())});
    }
  }

  void add_positional() {
    if (name_ == "completion") {
      for (const char* shell : {"bash", "zsh", "fish"}) add(shell);
    } else if (name_ == "help") {
      for (const CLI::App* one : command_.get_parent()->get_subcommands(nullptr))
        add(one->get_name());
      add_names(documents());
    } else if (name_ == "show" && !positionals_.empty()) {
      // Offers problems of the run, and the samples of a problem after `PROBLEM/`.
      add_of_runs([&](const ManifestEntry& entry, auto take) {
        const std::string& key = entry.problem.str();
        for (const std::string& name : {key, key.substr(key.rfind('/') + 1)}) {
          take(name);
          if (current_.starts_with(name + "/")) take(fmt::format("{}/{}", name, entry.sample));
        }
      });
    } else {
      found_.files = true;
      if (std::ranges::find(kOfProblems, name_) != kOfProblems.end())
        for (std::string& name : sources_.problems()) add(std::move(name));
    }
  }

  const CLI::App& command_;
  const std::string name_, current_;
  const CompletionSources& sources_;
  const CLI::Option* before_ = nullptr;
  std::vector<std::string> positionals_;
  Completions found_;
};

}  // namespace

Completions complete(const CLI::App& app, const std::vector<std::string>& words, std::size_t index,
                     const CompletionSources& sources) {
  Completions found;
  const std::string current = index < words.size() ? words[index] : "";
  const CLI::App* command = nullptr;
  for (const CLI::App* one : app.get_subcommands(nullptr))
    if (index > 1 && words.size() > 1 && one->get_name() == words[1]) command = one;
  if (command != nullptr && index <= words.size()) {
    found = Line(*command, words, index, sources).complete();
  } else if (command == nullptr) {
    if (index == 1)
      for (const CLI::App* one : app.get_subcommands(nullptr))
        found.words.push_back({one->get_name(), first_sentence(one->get_description())});
    if (current.starts_with("-"))
      for (const CLI::Option* option : app.get_options())
        if (const std::string name = long_name(*option);
            !name.empty() && !option->get_group().empty())
          found.words.push_back({name, first_sentence(option->get_description())});
  }
  std::erase_if(found.words, [&](const Word& word) { return !word.text.starts_with(current); });
  return found;
}

}  // namespace kbench::cli
