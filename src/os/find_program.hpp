// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace kbench {

/// The program of that name in the folders of PATH.
std::optional<std::filesystem::path> find_program(const std::string& name);

}  // namespace kbench
