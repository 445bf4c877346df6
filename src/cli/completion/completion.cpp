// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/completion/completion_words.hpp"
#include "cli/help/option_groups.hpp"
#include "cli/options/eval_input.hpp"
#include "kbench/error.hpp"
#include "kbench/problem.hpp"
#include "os/installation.hpp"

namespace kbench::cli {
namespace {

// The shell scripts are short because kbench itself prints the completions. The output starts with
// the line ":files" if a file name is also possible.
constexpr std::string_view kBash = R"sh(# bash completion for kbench
_kbench() {
  local line files= last=${COMP_WORDS[COMP_CWORD]} before i
  local -a words=()
  # bash takes =, : and @ for words of their own, and replaces what stands behind the last of them.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    if ((i > 1)) && [[ ${COMP_WORDS[i]} == [=:@]* || ${words[-1]} == *[=:@] ]]; then
      words[-1]+=${COMP_WORDS[i]}
    else
      words+=("${COMP_WORDS[i]}")
    fi
  done
  [[ $last != [=:@] ]] || last=
  before=${words[-1]%"$last"}
  COMPREPLY=()
  while IFS= read -r line; do
    line=${line%%$'\t'*}
    if [[ $line == :files ]]; then files=yes; else COMPREPLY+=("${line#"$before"}"); fi
  done < <("${words[0]}" completion words $((${#words[@]} - 1)) "${words[@]}" 2>/dev/null)
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$last")
  fi
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _kbench kbench
)sh";
constexpr std::string_view kZsh = R"sh(#compdef kbench
# zsh completion for kbench
_kbench() {
  local line files=
  local -a found
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      files=yes
    else
      found+=("${${line%%$'\t'*}//:/\:}:${line#*$'\t'}")
    fi
  done < <("${words[1]}" completion words $((CURRENT - 1)) "${words[@]}" 2>/dev/null)
  (( ${#found} )) && _describe kbench found
  [[ -z $files ]] && return
  [[ ${words[CURRENT]} == *=* ]] && compset -P '*='
  _files
}
if [[ ${funcstack[1]} == _kbench ]]; then _kbench "$@"; else compdef _kbench kbench; fi
)sh";
constexpr std::string_view kFish = R"sh(# fish completion for kbench
function __kbench_words
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    for line in ($before[1] completion words (count $before) $before $current 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path $current
        else
            echo $line
        end
    end
end
complete -c kbench -f -a '(__kbench_words)'
)sh";

struct ShellRow {
  std::string_view name, script;
};
constexpr ShellRow kShells[] = {{"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}};

/// Full names of the shipped problems, and their last parts.
std::vector<std::string> problem_names() {
  std::vector<std::string> names;
  for (const Problem& problem : find_problems({}, {find_installation().problems})) {
    names.push_back(problem.key);
    names.push_back(problem.key.substr(problem.key.rfind('/') + 1));
  }
  return names;
}

/// The constants of these problems; of all shipped problems if none is named.
std::vector<std::string> constant_names(const std::vector<std::string>& problems) {
  std::set<std::string> names;
  for (const Problem& problem : find_problems(problems, {find_installation().problems}))
    for (const auto& [name, value] : problem_constants(problem)) names.insert(name);
  return {names.begin(), names.end()};
}

/// Turns an error into an empty list, because completing an unfinished line must print no errors.
template <typename... Arguments>
auto quiet(std::vector<std::string> (*names)(Arguments...)) {
  return [names](Arguments... arguments) -> std::vector<std::string> {
    try {
      return names(arguments...);
    } catch (const std::exception&) {
      return {};
    }
  };
}

std::optional<RunFile> run_of(const std::string& path) {
  try {
    return read_run(path);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

int print_words(const CLI::App& app, const std::vector<std::string>& arguments) {
  const auto index = to_number<std::size_t>(arguments.empty() ? "" : arguments[0]);
  if (!index) throw UsageError("kbench completion words INDEX WORD…: INDEX is not a number");
  const std::vector<std::string> words(arguments.begin() + 1, arguments.end());
  const Completions found = complete(app, words, *index,
                                     {.problems = quiet(problem_names),
                                      .constants = quiet(constant_names),
                                      .run = [](const std::string& path) { return run_of(path); }});
  if (found.files) std::cout << ":files\n";
  for (const auto& [text, description] : found.words)
    std::cout << text << '\t' << description << '\n';
  return 0;
}

int print_script(const std::string& name) {
  std::vector<std::string> known;
  for (const ShellRow& row : kShells) {
    known.emplace_back(row.name);
    if (row.name != name) continue;
    std::cout << row.script;
    return 0;
  }
  throw UsageError(fmt::format("there is no completion for the shell \"{}\"; there is one for {}{}",
                               name, fmt::join(known, ", "), did_you_mean(name, known)));
}

}  // namespace

Subcommand add_completion(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "completion", "Print a script with which a shell completes kbench's commands and options");
  auto words = std::make_shared<std::vector<std::string>>();
  command->option_defaults()->group(group::kOutput);
  command->add_option("SHELL", *words, "bash, zsh or fish")->required();
  // The words to complete are never parsed as options.
  command->prefix_command();
  return {command, [words, &app] {
            const std::string first = words->front();
            // Reads the raw command line, because CLI11 moves options to its end.
            std::vector<std::string> given = own_command_line();
            if (first == "words")
              return print_words(
                  app,
                  {given.begin() + std::min<std::ptrdiff_t>(3, std::ssize(given)), given.end()});
            return print_script(first);
          }};
}

}  // namespace kbench::cli
