// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"

namespace kbench {

/// A file that may be a problem, judged by its path; it has not been opened.
struct ProblemFile {
  std::filesystem::path path;
  std::filesystem::path set;  ///< folder of the set: above the level folder, else the file's own
  int level = 0;
  std::string id, stem, key;  ///< as in Problem; `stem` is its `name`
};

/// The level that a folder's name gives: 1 for "level1" and "level_1".
std::optional<int> level_of_folder(std::string_view name);

/// The digits before the first "_" of a file stem, "" if there are none.
std::string_view id_of_stem(std::string_view stem);

/// Reads a problem file's set, id, stem and key from its path.
ProblemFile problem_file(const std::filesystem::path& path);

/// The Python files below `root` that may be problems, in natural order. If `root` has level
/// folders at any depth, only files directly in a level folder are taken. A folder with level
/// folders is a set, so its other folders (candidates, runs, scripts) are skipped. Searches folders
/// down to `max_depth` below `root`.
std::vector<ProblemFile> problem_files(const std::filesystem::path& root, int max_depth = 1000);

/// The files that match a name. `several_meant`: the name is a glob or a whole level, so several
/// may match.
struct NamedFiles {
  std::vector<const ProblemFile*> files;
  bool several_meant = false;
};

/// Looks `name` up among `files`: a glob on keys and stems, "level1", or one of key, stem, id and
/// the part of the stem after the id. A level may precede all of them but the key ("level1/relu").
/// An exact match precedes one that differs in case.
NamedFiles match_name(std::string_view name, const std::vector<ProblemFile>& files);

/// True if `pattern` has one of the special characters of globs.
bool is_glob(std::string_view pattern);

/// The names of the files, for `nearest_names`.
std::vector<Spelled> spellings(const std::vector<ProblemFile>& files);

}  // namespace kbench
