// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <set>

#include "core/candidate_file.hpp"
#include "core/file_tree.hpp"

namespace kbench {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostFiles = 32, kMostNames = 64, kMostFolders = 8, kLongestName = 256;

/// What torch's `load` compiles, and what such files include.
constexpr std::array<std::string_view, 10> kSourceEndings = {".cu", ".cuh", ".cpp", ".cc", ".cxx",
                                                             ".c",  ".h",   ".hpp", ".hh", ".inl"};

bool is_source(const fs::path& path) {
  return std::ranges::find(kSourceEndings, path.extension().native()) != kSourceEndings.end();
}

/// Calls `take` with each text between two quotes of one kind in one line.
template <typename Take>
void each_quoted(std::string_view source, char quote, Take&& take) {
  std::size_t begin = source.find(quote);
  while (begin != std::string_view::npos) {
    const std::size_t end = source.find(quote, begin + 1);
    if (end == std::string_view::npos) return;
    const std::string_view text = source.substr(begin + 1, end - begin - 1);
    if (text.size() <= kLongestName && text.find_first_of("\n\0", 0, 2) == std::string_view::npos)
      take(text);
    begin = end;
  }
}

}  // namespace

std::map<std::string, std::string> files_beside(const fs::path& candidate,
                                                std::string_view source) {
  std::map<std::string, std::string> files;
  std::error_code error;
  const fs::path root = fs::canonical(fs::absolute(candidate).parent_path(), error);
  if (error) return files;
  // A file may be named in parts: os.path.join(here, "csrc", "relu.cu").
  std::set<fs::path> names, folders{""};
  const auto note = [&](std::string_view text) {
    const fs::path name = fs::path(text).lexically_normal();
    if (name.empty() || name.is_absolute() || *name.begin() == "..") return;
    if (is_source(name)) {
      if (names.size() < kMostNames) names.insert(name);
    } else if (folders.size() < kMostFolders && leads_inside(root / name, root) &&
               fs::is_directory(root / name, error)) {
      folders.insert(name);
    }
  };
  each_quoted(source, '"', note);
  each_quoted(source, '\'', note);
  for (const fs::path& folder : folders) {
    for (const fs::path& name : names) {
      const fs::path path = (folder / name).lexically_normal();
      // A link out of the folder would bring along what is not the candidate's.
      if (files.size() >= kMostFiles || !leads_inside(root / path, root)) continue;
      FileBytes file = read_file(root / path, kMaxCandidateBytes);
      if (file.error.empty() && !file.too_large) {
        files.emplace(path.string(), std::move(file.bytes));
      }
    }
  }
  return files;
}

}  // namespace kbench
