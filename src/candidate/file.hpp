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

/// True if a file of that name may be a candidate's code: .cu or .py, except files of Python
/// packages.
bool is_code_file(const std::filesystem::path& path);

/// True if a file of that name may be a model's answer: .md or .txt.
bool is_response_file(const std::filesystem::path& path);

/// The error message for a file that is neither code nor an answer.
std::string no_candidate(const std::filesystem::path& path);

/// Fills in the candidate's path and content, and from these its kind and reject fields. Returns
/// the problem that its `//@ problem` line names.
std::optional<std::string> fill_candidate(Candidate& candidate, const std::filesystem::path& path,
                                          FileBytes bytes);

/// The C++ and CUDA files below a module's folder that its source names in quotes, and the files
/// that they include, by name. Links out of the folder are not followed. Other samples are left
/// out: those of `samples` (canonical paths), and files in the module's own folder that have a
/// sample's name ("1.cu", "sample_3.cu").
std::map<std::string, std::string> accompanying_files(
    const std::filesystem::path& candidate, std::string_view source,
    const std::set<std::filesystem::path>& samples = {});

/// True if a line belongs to a plan and is not a `//@ problem` line.
bool is_plan_line(std::string_view line);

/// True if a line has `// @` before a statement of a plan, so that its author meant `//@`. False
/// for other comments (`// @param x`).
bool has_spaced_mark(std::string_view line);

}  // namespace kbench
