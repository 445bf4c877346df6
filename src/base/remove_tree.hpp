// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

namespace kbench {

/// Removes a folder and everything below it, at any depth and with any permissions, even paths that
/// exceed the system's limit. Links are removed, not followed. False if something is left.
bool remove_tree(const std::filesystem::path& folder);

}  // namespace kbench
