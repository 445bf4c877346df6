// SPDX-License-Identifier: MIT
#include "cli/options/option_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "base/text.hpp"
#include "cli/help/option_groups.hpp"

namespace kbench::cli {

CLI::Validator above_zero() {
  return CLI::Validator(
      [](const std::string& text) {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        const bool whole = !text.empty() && *end == '\0';
        return whole && value > 0 && std::isfinite(value)
                   ? std::string()
                   : fmt::format("{} is not a number above zero", text);
      },
      "");
}

CLI::Validator one_of(std::vector<std::string> names) {
  const std::string choices = fmt::format("{{{}}}", fmt::join(names, ","));
  return CLI::Validator(
      [names = std::move(names)](const std::string& text) {
        if (std::ranges::find(names, text) != names.end()) return std::string();
        return fmt::format("{} is not one of {}{}", text, fmt::join(names, ", "),
                           did_you_mean(text, names));
      },
      choices);
}

CLI::Validator function_name() {
  return CLI::Validator(
      [](const std::string& text) {
        const bool is_name = !text.empty() && std::isdigit(text.front()) == 0 &&
                             std::ranges::all_of(text, [](unsigned char c) {
                               return std::isalnum(c) != 0 || c == '_';
                             });
        return is_name ? std::string() : fmt::format("{} is not the name of a function", text);
      },
      "");
}

void add_compile_timeout(CLI::App& app, double& seconds) {
  seconds = 0;
  app.option_defaults()->group(group::kLimits);
  app.add_option("--compile-timeout", seconds,
                 "processor seconds for all compiles of a candidate (default: 360, on a GPU 720)")
      ->type_name("SECONDS")
      ->check(above_zero());
}

}  // namespace kbench::cli
