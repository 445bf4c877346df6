// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

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

/// What may follow, by the app's own description of itself: `words` is the command line with the
/// program's name, `index` the word that is being typed (it may be one past the last). `problems`
/// gives the names of the shipped problems, where one may stand.
Completions complete(const CLI::App& app, const std::vector<std::string>& words, std::size_t index,
                     const std::function<std::vector<std::string>()>& problems);

/// The values that an option takes, where they are few and known: "cold", "warm".
std::vector<std::string> choices_of(const std::string& type_name);

}  // namespace kbench::cli
