// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kbench/run_file.hpp"

namespace CLI {
class App;
}

namespace kbench::cli {

/// The completions at one place of a command line.
struct Completions {
  struct Word {
    std::string text, description;
  };
  std::vector<Word> words;
  bool files = false;  ///< a file or folder name is possible too
};

/// Sources of names that CLI11's app does not know. Each is called only if such a name is possible.
struct CompletionSources {
  /// Names of the shipped problems.
  std::function<std::vector<std::string>()> problems;
  /// Constants of the named problems; of all shipped problems if `names` is empty.
  std::function<std::vector<std::string>(const std::vector<std::string>& names)> constants;
  /// The run file of that name; nothing if it cannot be read.
  std::function<std::optional<RunFile>(const std::string& path)> run;
};

/// Returns completions from the options and subcommands of `app`. `words`: the command line,
/// including the program's name. `index`: of the word being typed, which may be one past the last.
Completions complete(const CLI::App& app, const std::vector<std::string>& words, std::size_t index,
                     const CompletionSources& sources);

}  // namespace kbench::cli
