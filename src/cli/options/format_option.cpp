// SPDX-License-Identifier: MIT
#include "cli/options/format_option.hpp"

#include <CLI/CLI.hpp>
#include <string>

#include "cli/options/option_checks.hpp"

namespace kbench::cli {

void add_format_option(CLI::App& app, bool& json) {
  app.add_option_function<std::string>(
         "--format", [&json](const std::string& format) { json = format == "json"; },
         "console or json")
      ->type_name("FORMAT")
      ->check(one_of({"console", "json"}))
      ->default_str("console");
}

}  // namespace kbench::cli
