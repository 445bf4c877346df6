// SPDX-License-Identifier: MIT
#include "cli/options/configuration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "cli/terminal/tell.hpp"
#include "kbench/error.hpp"
#include "report/text/text.hpp"

namespace kbench::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "kbench.toml";
constexpr const char* kProblems = "problems";
constexpr const char* kCandidates = "candidates";

/// The nearest file, as a path from the current folder.
std::optional<fs::path> find_file() {
  std::error_code error;
  fs::path way;
  for (fs::path folder = fs::current_path(error);; folder = folder.parent_path(), way /= "..") {
    if (fs::is_regular_file(folder / kFileName, error)) return way / kFileName;
    if (folder == folder.parent_path()) return std::nullopt;
  }
}

/// The number of the line that has a section or a key; CLI11 does not report it.
int line_of(const fs::path& file, const CLI::ConfigItem& item) {
  const bool is_section = !item.parents.empty();
  const std::string sought = is_section ? item.parents.front() : item.name;
  std::ifstream input(file);
  int number = 1;
  for (std::string text; std::getline(input, text); ++number) {
    std::string_view line = trimmed(text);
    line.remove_prefix(std::min(line.find_first_not_of("[\"'"), line.size()));
    if (line.starts_with(sought) &&
        (line.size() == sought.size() || !is_word_char(line[sought.size()])))
      return number;
  }
  return 1;
}

/// The path that a value of the file means: relative to the file's folder.
std::string from_folder(const fs::path& folder, const std::string& path) {
  return (folder / path).lexically_normal().string();
}

/// The values of a key, with paths of problems and candidates as from the current folder.
std::vector<std::string> values_of(const CLI::ConfigItem& item, const fs::path& folder) {
  std::vector<std::string> values = item.inputs;
  for (std::string& value : values) {
    std::error_code error;
    const std::size_t equals = value.find('=');
    const bool has_model = item.name == kCandidates && equals != std::string::npos &&
                           !fs::exists(folder / value, error);
    if (has_model)
      value = value.substr(0, equals + 1) + from_folder(folder, value.substr(equals + 1));
    else if (item.name == kProblems || (item.name == kCandidates && value != "-"))
      value = from_folder(folder, value);
  }
  return values;
}

/// As CLI11 sets an option from a file, so that all checks of the option apply.
void set_option(CLI::Option& option, const std::string& name,
                const std::vector<std::string>& values) {
  const bool is_flag = option.get_items_expected_max() == 0;
  if (is_flag && values.size() != 1) throw CLI::ConversionError::TooManyInputsFlag(name);
  if (is_flag)
    option.add_result(option.get_flag_value(name, values[0] == "true" ? "" : values[0]));
  else
    option.add_result(values);
  option.run_callback();
}

}  // namespace

void apply_configuration(CLI::App& command, CLI::App& eval) {
  if (command.get_option_no_throw(std::string("--") + kProblems) == nullptr) return;
  const auto file = find_file();
  if (!file) return;
  std::ifstream input(*file);
  std::set<std::string> seen;
  std::vector<std::string> sets;
  for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_config(input)) {
    const auto fail = [&](const std::string& what) {
      throw UsageError(report::printable(
          fmt::format("{}, line {}: {}", file->string(), line_of(*file, item), what)));
    };
    if (!item.parents.empty()) fail("there are no sections; write NAME = VALUE");
    const CLI::Option* known = eval.get_option_no_throw("--" + item.name);
    if (known == nullptr) {
      std::vector<std::string> names;
      for (const CLI::Option* option : eval.get_options())
        for (const std::string& name : option->get_lnames()) names.push_back(name);
      fail(fmt::format("kbench eval has no option --{}{}", item.name,
                       did_you_mean(item.name, names)));
    }
    if (!known->get_configurable())
      fail(fmt::format("--{} is only taken from the command line", item.name));
    if (!seen.insert(item.name).second) fail(fmt::format("{} is set twice", item.name));
    if (&command != &eval && item.name != kProblems) continue;
    CLI::Option* option = command.get_option_no_throw("--" + item.name);
    if (option->count() > 0) continue;
    const std::vector<std::string> values = values_of(item, file->parent_path());
    try {
      set_option(*option, item.name, values);
    } catch (const CLI::Error& error) {
      fail(error.what());
    }
    sets.push_back(fmt::format("{} = {}", item.name, fmt::join(values, ", ")));
  }
  if (!sets.empty())
    tell("kbench: {} sets {}\n", file->string(),
         report::printable(fmt::format("{}", fmt::join(sets, "; "))));
}

}  // namespace kbench::cli
