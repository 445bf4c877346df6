// SPDX-License-Identifier: MIT
#include "problem/files.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <array>
#include <iterator>

#include "base/file_tree.hpp"
#include "base/text.hpp"

namespace kbench {
namespace fs = std::filesystem;
namespace {

/// The folder's own name, even if the path is "level1/" or ".".
fs::path folder_name(const fs::path& folder) {
  const fs::path path = fs::absolute(folder).lexically_normal();
  return path.has_filename() ? path.filename() : path.parent_path().filename();
}

bool may_be_problem(const fs::path& path) {
  return path.extension() == ".py" && path.filename().native().front() != '_';
}

/// One walk over folders. Collects the Python files in level folders, and the others.
struct Walk {
  std::vector<ProblemFile> in_levels, loose;
  Descent descent;
  int depth_left = 0;

  void folder(const fs::path& path) {
    if (depth_left < 0 || !descent.enter(path)) return;
    const FolderEntries entries = list_folder(path);
    const bool is_level = level_of_folder(folder_name(path).native()).has_value();
    for (const fs::path& file : entries.files) {
      if (may_be_problem(file)) (is_level ? in_levels : loose).push_back(problem_file(file));
    }
    --depth_left;
    if (!is_level) subfolders(entries.folders);
    ++depth_left;
    descent.leave();
  }

  void subfolders(const std::vector<fs::path>& folders) {
    bool is_set = false;
    for (const fs::path& each : folders) {
      if (!level_of_folder(each.filename().native())) continue;
      is_set = true;
      folder(each);
    }
    if (is_set) return;
    for (const fs::path& each : folders) {
      if (!is_foreign_folder(each)) folder(each);
    }
  }
};

/// A stem without its id, in the form in which names are compared: "26_GELU_" gives "gelu".
std::string bare_name(std::string_view stem) {
  const std::string_view id = id_of_stem(stem);
  if (!id.empty()) stem.remove_prefix(id.size());
  while (!stem.empty() && stem.front() == '_') stem.remove_prefix(1);
  while (!stem.empty() && stem.back() == '_') stem.remove_suffix(1);
  return lowercase(stem);
}

/// Ways in which a name may match a file, the strictest first.
using Matches = bool (*)(std::string_view name, const ProblemFile& file);
constexpr std::array<Matches, 4> kTiers = {
    [](std::string_view name, const ProblemFile& file) {
      return name == file.key || name == file.stem;
    },
    [](std::string_view name, const ProblemFile& file) { return name == file.id; },
    [](std::string_view name, const ProblemFile& file) {
      return lowercase(name) == lowercase(file.key) || lowercase(name) == lowercase(file.stem);
    },
    [](std::string_view name, const ProblemFile& file) {
      return bare_name(name) == bare_name(file.stem) &&
             (id_of_stem(name).empty() || id_of_stem(name) == file.id);
    },
};

}  // namespace

std::optional<int> level_of_folder(std::string_view name) {
  constexpr std::string_view kLevel = "level";
  if (!name.starts_with(kLevel)) return std::nullopt;
  name.remove_prefix(kLevel.size());
  if (name.starts_with('_')) name.remove_prefix(1);
  const auto level = to_number<int>(name);
  return level && *level >= 0 ? level : std::nullopt;
}

std::string_view id_of_stem(std::string_view stem) {
  const std::size_t digits = stem.find_first_not_of("0123456789");
  if (digits == std::string_view::npos || digits == 0 || stem[digits] != '_') return {};
  return stem.substr(0, digits);
}

ProblemFile problem_file(const fs::path& path) {
  ProblemFile file;
  file.path = path.lexically_normal();
  file.stem = path.stem().string();
  file.id = id_of_stem(file.stem);
  const fs::path folder = fs::absolute(file.path).parent_path();
  if (const auto level = level_of_folder(folder.filename().native())) {
    file.level = *level;
    file.key = fmt::format("level{}/{}", *level, file.stem);
    file.set = folder.parent_path();
  } else {
    file.key = file.stem;
    file.set = folder;
  }
  return file;
}

std::vector<ProblemFile> problem_files(const fs::path& root, int max_depth) {
  Walk walk;
  walk.depth_left = max_depth;
  walk.folder(root);
  return walk.in_levels.empty() ? std::move(walk.loose) : std::move(walk.in_levels);
}

bool is_glob(std::string_view pattern) {
  return pattern.find_first_of("*?[") != std::string_view::npos;
}

NamedFiles match_name(std::string_view name, const std::vector<ProblemFile>& files) {
  NamedFiles found;
  if (is_glob(name)) {
    found.several_meant = true;
    const std::string pattern(name);
    for (const ProblemFile& file : files) {
      if (::fnmatch(pattern.c_str(), file.key.c_str(), FNM_CASEFOLD) == 0 ||
          ::fnmatch(pattern.c_str(), file.stem.c_str(), FNM_CASEFOLD) == 0) {
        found.files.push_back(&file);
      }
    }
    return found;
  }
  if (name.ends_with('/')) name.remove_suffix(1);
  const std::size_t slash = name.find('/');
  const std::optional<int> level = level_of_folder(name.substr(0, slash));
  if (level && slash != std::string_view::npos) name.remove_prefix(slash + 1);
  const bool whole_level = level && slash == std::string_view::npos;
  for (const Matches matches : kTiers) {
    for (const ProblemFile& file : files) {
      if (level && file.level != *level) continue;
      if (whole_level || matches(name, file)) found.files.push_back(&file);
    }
    if (!found.files.empty()) break;
  }
  found.several_meant = whole_level;
  return found;
}

std::vector<Spelled> spellings(const std::vector<ProblemFile>& files) {
  std::vector<Spelled> names;
  names.reserve(files.size());
  for (const ProblemFile& file : files) {
    names.push_back({file.key, {file.key, file.stem, bare_name(file.stem)}});
  }
  return names;
}

}  // namespace kbench
