// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace kbench::cli {

/// The words of a command line for CLI11, which takes the word after an option with an optional
/// value for that value, even if it is a problem. Joins such an option and its value by `=`.
///  - `--profile`: only `ncu` is a value.
///  - `--reduce-sizes`: a word such as `16MiB,500MFLOP` is a value, unless a file has this name. A
///    number without a unit is not, because it may be the number of a problem.
std::vector<std::string> command_words(std::vector<std::string> words);

}  // namespace kbench::cli
