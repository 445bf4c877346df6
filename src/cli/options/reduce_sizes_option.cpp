// SPDX-License-Identifier: MIT
#include "cli/options/reduce_sizes_option.hpp"

#include <CLI/CLI.hpp>

#include "kbench/error.hpp"
#include "kbench/problem.hpp"

namespace kbench::cli {

void add_reduce_sizes_option(CLI::App& command, std::string& text) {
  const CLI::Validator readable(
      [](const std::string& value) {
        try {
          parse_reduce_sizes(value);
          return std::string();
        } catch (const UsageError& error) {
          return std::string(error.what());
        }
      },
      "");
  // This is a flag, so a problem's name can follow it. command_words() joins it with its value.
  command
      .add_flag("--reduce-sizes{on},--full-sizes{off}", text,
                "halve constants of problems above these limits (4MiB,50MFLOP), or keep the "
                "constants; problems without a sizes.json are reduced on the CPU only")
      ->type_name("[=BYTES[,FLOP]]")
      ->check(readable);
}

}  // namespace kbench::cli
