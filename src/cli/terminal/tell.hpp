// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

#include "report/text/workflow_commands.hpp"

namespace kbench::cli {

/// Prints to stderr. Ignores a failed write, because files and the exit code do not depend on it.
template <typename... Args>
void tell(fmt::format_string<Args...> format, Args&&... args) {
  const std::string text = fmt::format(format, std::forward<Args>(args)...);
  std::fputs(report::without_commands(text).c_str(), stderr);
}

}  // namespace kbench::cli
