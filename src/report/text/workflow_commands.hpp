// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

/// What a candidate prints may reach the log of a CI system, whose runner obeys some lines. GitHub
/// Actions: a line that begins with "::", after white space, and "##[" anywhere in a line. Azure
/// Pipelines: "##vso[" anywhere. TeamCity: "##teamcity[".
namespace kbench::report {

/// `text`, of one or several lines, with a space in each such mark: ": :", "# #[".
std::string without_commands(std::string_view text);

/// JSON with the same value, in which no string holds such a mark: "##" is written as "#\u0023".
std::string json_without_commands(std::string json);

}  // namespace kbench::report
