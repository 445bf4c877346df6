// SPDX-License-Identifier: MIT
#include "cli/help/option_groups.hpp"

#include <array>

namespace kbench::cli {
namespace {

constexpr std::array<std::string_view, 10> kGroups = {
    group::kInput, group::kJudged, group::kShown,  group::kJudging, group::kTiming,
    group::kCpu,   group::kLimits, group::kOutput, group::kGates,   group::kHelp};

constexpr std::array<std::string_view, 12> kOfEval = {
    "--candidates", "--candidate", "--problem", "--device",  "--precision", "--baseline",
    "--out",        "--resume",    "--format",  "--verbose", "--quiet",     "--fail-under"};

}  // namespace

std::span<const std::string_view> group::all() { return kGroups; }

std::span<const std::string_view> most_used(std::string_view command) {
  if (command == "eval") return kOfEval;
  return {};
}

}  // namespace kbench::cli
