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

/// What may stand at one place of a command line.
struct Completions {
  struct Word {
    std::string text, description;
  };
  std::vector<Word> words;
  bool files = false;  ///< or the name of a file or folder
};

/// Where names come from that the app does not know; asked where one may stand, and not before.
struct CompletionSources {
  /// Names of the shipped problems.
  std::function<std::vector<std::string>()> problems;
  /// Constants of the problems of these names; of all shipped ones where there is none.
  std::function<std::vector<std::string>(const std::vector<std::string>& names)> constants;
  /// The run file of that name; nothing where it cannot be read.
  std::function<std::optional<RunFile>(const std::string& path)> run;
};

/// What may follow, by the app's own description of itself: `words` is the command line with the
/// program's name, `index` the word that is being typed (it may be one past the last).
Completions complete(const CLI::App& app, const std::vector<std::string>& words, std::size_t index,
                     const CompletionSources& sources);

}  // namespace kbench::cli
