// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <set>

#include "base/file_tree.hpp"
#include "candidate/file.hpp"
#include "candidate/place.hpp"

namespace kbench {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostFiles = 32, kMostNames = 64, kMostFolders = 8, kLongestName = 256;

/// Extensions of the files that torch's `load` compiles, and of those that they include.
constexpr std::array<std::string_view, 10> kSourceEndings = {".cu", ".cuh", ".cpp", ".cc", ".cxx",
                                                             ".c",  ".h",   ".hpp", ".hh", ".inl"};

bool is_source(const fs::path& path) {
  return std::ranges::find(kSourceEndings, path.extension().native()) != kSourceEndings.end();
}

/// Calls `take` with each text in quotes; both quotes are `quote` and on one line.
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

/// Calls `take` with the name of each file that a source includes.
template <typename Take>
void each_included(std::string_view source, Take&& take) {
  constexpr std::string_view kWord = "include";
  for (std::size_t at = source.find('#'); at != std::string_view::npos;
       at = source.find('#', at + 1)) {
    const std::size_t word = source.find_first_not_of(" \t", at + 1);
    if (word == std::string_view::npos || !source.substr(word).starts_with(kWord)) continue;
    const std::size_t open = source.find_first_not_of(" \t", word + kWord.size());
    if (open == std::string_view::npos || (source[open] != '"' && source[open] != '<')) continue;
    const std::size_t close = source.find_first_of(std::string_view("\">\n\0", 4), open + 1);
    const bool ends =
        close != std::string_view::npos && (source[close] == '"' || source[close] == '>');
    if (!ends || close - open > kLongestName) continue;
    take(source.substr(open + 1, close - open - 1));
  }
}

/// True if a file in a module's own folder has a sample's name.
bool is_named_as_sample(const fs::path& name) {
  const std::string stem = name.stem().string();
  if (name.has_parent_path() || !(is_code_file(name) || is_response_file(name))) return false;
  // "kernel_2" may be a sample's name, but among a module's own files it may be any source.
  const bool counts =
      stem.starts_with("sample") || (!stem.empty() && stem[0] >= '0' && stem[0] <= '9');
  return run_file_name(stem) || (counts && names_sample(stem));
}

/// Collects the accompanying files of one module.
class AccompanyingFiles {
 public:
  AccompanyingFiles(fs::path root, const std::set<fs::path>& samples)
      : root_(std::move(root)), samples_(samples) {}

  std::map<std::string, std::string> take() { return std::move(files_); }

  /// Adds the file if it lies below the root and is not a sample.
  void add(const fs::path& path) {
    // A link out of the folder leads to a file that is not the candidate's.
    if (files_.size() >= kMostFiles || files_.contains(path.string()) ||
        !leads_inside(root_ / path, root_) || is_sample(path))
      return;
    FileBytes file = read_file(root_ / path, kMaxCandidateBytes);
    if (file.error.empty() && !file.too_large) files_.emplace(path.string(), std::move(file.bytes));
  }

  /// Adds what the collected files include, directly or not. Searches the including file's folder,
  /// then `folders`.
  void add_headers(const std::set<fs::path>& folders) {
    for (std::size_t before = 0; before != files_.size();) {
      before = files_.size();
      for (const auto& [name, text] : std::map(files_)) {
        each_included(text, [&, here = fs::path(name).parent_path()](std::string_view header) {
          const fs::path path(header);
          if (path.empty() || path.is_absolute()) return;
          add((here / path).lexically_normal());
          for (const fs::path& folder : folders) add((folder / path).lexically_normal());
        });
      }
    }
  }

 private:
  /// True if `path` leads to a sample, by any name.
  bool is_sample(const fs::path& path) const {
    std::error_code error;
    const fs::path real = fs::canonical(root_ / path, error);
    return error || samples_.contains(real) || is_named_as_sample(real.lexically_relative(root_));
  }

  fs::path root_;
  const std::set<fs::path>& samples_;
  std::map<std::string, std::string> files_;
};

}  // namespace

std::map<std::string, std::string> accompanying_files(const fs::path& candidate,
                                                      std::string_view source,
                                                      const std::set<fs::path>& samples) {
  std::error_code error;
  const fs::path root = fs::canonical(fs::absolute(candidate).parent_path(), error);
  if (error) return {};
  // A module may join the parts of a path: os.path.join(here, "csrc", "relu.cu").
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
  AccompanyingFiles collected(root, samples);
  for (const fs::path& folder : folders)
    for (const fs::path& name : names) collected.add((folder / name).lexically_normal());
  collected.add_headers(folders);
  return collected.take();
}

}  // namespace kbench
