// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace kbench {

/// A file that may be a problem, by its path alone; it has not been opened.
struct ProblemFile {
  std::filesystem::path path;
  std::filesystem::path set;  ///< folder of the set: above the level folder, else the file's own
  int level = 0;
  std::string id, stem, key;  ///< as in Problem; `stem` is its `name`
};

/// The level that a folder of that name stands for: "level1" and "level_1" are 1.
std::optional<int> level_of_folder(std::string_view name);

/// The digits before the first "_" of a file stem, "" where there are none.
std::string_view id_of_stem(std::string_view stem);

/// What the path of a problem file says about it.
ProblemFile problem_file(const std::filesystem::path& path);

/// The Python files below `root` that may be problems, in natural order. Where `root` holds level
/// folders, at whatever depth, it is those files that lie directly in one; a folder with level
/// folders is a set, and its other folders (candidates, runs, scripts) hold no problems. Folders
/// more than `max_depth` below `root` are not looked into.
std::vector<ProblemFile> problem_files(const std::filesystem::path& root, int max_depth = 1000);

/// The files that a name means, and whether it may mean several (a glob, or a whole level).
struct NamedFiles {
  std::vector<const ProblemFile*> files;
  bool several_meant = false;
};

/// Looks `name` up among `files`: a glob on keys and stems, "level1", or one of key, stem, id and
/// the part of the stem after the id, each but the first also with the level before it
/// ("level1/relu"). What is exact goes before what only differs in case.
NamedFiles match_name(std::string_view name, const std::vector<ProblemFile>& files);

/// Whether `pattern` has a character that globs give a meaning to.
bool is_glob(std::string_view pattern);

/// The names by which the files go, for `nearest_names`.
std::vector<Spelled> spellings(const std::vector<ProblemFile>& files);

}  // namespace kbench
