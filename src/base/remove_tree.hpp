// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

namespace kbench {

/// Removes a folder with everything below it: at any depth, even if paths are too long for the
/// system, and with any permissions. Links are removed, not followed. False if something is left.
bool remove_tree(const std::filesystem::path& folder);

}  // namespace kbench
