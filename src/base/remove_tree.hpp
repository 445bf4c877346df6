// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

namespace kbench {

/// Removes a folder with all that is below it, whoever filled it: however deep, where paths are
/// longer than the system takes them, and whatever its parts' permissions. Links are removed, not
/// followed. False where something of it stays.
bool remove_tree(const std::filesystem::path& folder);

}  // namespace kbench
