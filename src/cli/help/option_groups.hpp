// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <string_view>

/// The groups of options in the help. `app.option_defaults()->group(group::kTiming)` puts all
/// options that follow into a group.
namespace kbench::cli::group {

inline constexpr const char* kInput = "Input";
inline constexpr const char* kJudged = "What is judged";
inline constexpr const char* kShown = "What is shown";
inline constexpr const char* kJudging = "How it is judged";
inline constexpr const char* kTiming = "Timing";
inline constexpr const char* kCpu = "CPU";
inline constexpr const char* kLimits = "Limits";
inline constexpr const char* kOutput = "Output";
inline constexpr const char* kGates = "Gates";
inline constexpr const char* kHelp = "Help";

/// All groups, in the order of the help.
std::span<const std::string_view> all();

}  // namespace kbench::cli::group

namespace kbench::cli {

/// The options that `kbench COMMAND --help` shows, in this order. Empty: all.
std::span<const std::string_view> most_used(std::string_view command);

}  // namespace kbench::cli
