// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/file_tree.hpp"
#include "kbench/candidate.hpp"

namespace kbench {

/// Whether a file of that name may be a candidate's code: .cu, and .py that is not a package's own.
bool is_code_file(const std::filesystem::path& path);

/// Whether a file of that name may be a model's answer: .md and .txt.
bool is_response_file(const std::filesystem::path& path);

/// The sentence that says that a file is neither.
std::string no_candidate(const std::filesystem::path& path);

/// Gives `candidate` the file's path and content, and from these its kind and reject fields.
/// Returns the problem that a `//@ problem` line of it names.
std::optional<std::string> fill_candidate(Candidate& candidate, const std::filesystem::path& path,
                                          FileBytes bytes);

/// The C++ and CUDA files below a module's folder that its source names in quotes, by that name:
/// what its `load` compiles. Links out of the folder are not followed. Another sample does not come
/// along, whatever the text says: neither one of `samples` (canonical paths) nor, in the module's
/// own folder, what is named as samples are ("1.cu", "sample_3.cu").
std::map<std::string, std::string> files_beside(
    const std::filesystem::path& candidate, std::string_view source,
    const std::set<std::filesystem::path>& samples = {});

/// Whether a line says more of a plan than which problem the file is for.
bool is_plan_line(std::string_view line);

}  // namespace kbench
