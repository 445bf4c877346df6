// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "core/file_tree.hpp"
#include "kbench/candidate.hpp"

namespace kbench {

/// Whether a file of that name may be a candidate: .cu, and .py that is not a package's own.
bool is_candidate_file(const std::filesystem::path& path);

/// Gives `candidate` the file's path and content, and from these its kind and reject fields.
void fill_candidate(Candidate& candidate, const std::filesystem::path& path, FileBytes bytes);

}  // namespace kbench
