// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

/// A candidate's output may reach the log of a CI system, whose runner executes some lines as
/// commands. GitHub Actions: a line that begins with "::" (after white space), and "##[" anywhere
/// in a line. Azure Pipelines: "##vso[" anywhere. TeamCity: "##teamcity[".
namespace kbench::report {

/// `text`, one or several lines, with a space in each such mark: ": :", "# #[".
std::string without_commands(std::string_view text);

/// JSON with the same value, but without such marks in strings: "##" is written as "#\u0023".
std::string json_without_commands(std::string json);

}  // namespace kbench::report
