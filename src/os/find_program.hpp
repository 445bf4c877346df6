// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace kbench {

/// The path of a program, searched in the folders of PATH; nothing if there is none.
std::optional<std::filesystem::path> find_program(const std::string& name);

}  // namespace kbench
