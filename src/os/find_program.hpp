// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace kbench {

/// The path of a program, searched in the folders of PATH; nothing if there is none.
std::optional<std::filesystem::path> find_program(const std::string& name);

/// The value of an environment variable; "" if it is not set.
std::string environment_variable(const char* name);

}  // namespace kbench
