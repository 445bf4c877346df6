// SPDX-License-Identifier: MIT
#include "cli/command_words.hpp"

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "cli/options/eval_options.hpp"
#include "kbench/error.hpp"
#include "kbench/problem.hpp"

namespace kbench::cli {
namespace {

/// True for a value of `--reduce-sizes`, even if its part after the comma is faulty.
bool is_size_limit(const std::string& word) {
  std::error_code ignored;
  if (word.find_first_not_of("0123456789") == std::string::npos ||
      std::filesystem::exists(word, ignored))
    return false;
  try {
    parse_reduce_sizes(std::string_view(word).substr(0, word.find(',')));
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

}  // namespace

std::vector<std::string> command_words(std::vector<std::string> words) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const bool has_value =
        i + 1 < words.size() && ((words[i] == "--profile" && words[i + 1] == kNcuProfile) ||
                                 (words[i] == "--reduce-sizes" && is_size_limit(words[i + 1])));
    if (has_value) {
      words[i] += "=" + words[i + 1];
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    } else if (words[i] == "--profile") {
      words[i] += std::string("=") + kKernelsProfile;
    }
  }
  return words;
}

}  // namespace kbench::cli
