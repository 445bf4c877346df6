// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kbench {

/// The bytes of a regular file, or why there are none.
struct FileBytes {
  std::string bytes;
  std::string error;       ///< a clause ("permission denied", "is a folder"); "" when it was read
  bool too_large = false;  ///< more than asked for: nothing was read
  std::size_t size_bytes = 0;
};

/// Reads a regular file of at most `max_bytes`, with one read; pipes and devices are not waited
/// for.
FileBytes read_file(const std::filesystem::path& path, std::size_t max_bytes);

/// All of a file, however long; "" where it cannot be opened.
std::string file_text(const std::filesystem::path& path);

/// Name, time and size, by which another version of a file or folder differs.
std::string file_version(const std::filesystem::path& path);

/// What a folder holds, without hidden entries, in natural order of names.
struct FolderEntries {
  std::vector<std::filesystem::path> files;  ///< all that is no folder, links to files included
  std::vector<std::filesystem::path> folders;
};

/// Lists `folder`. Throws UsageError where it cannot be read.
FolderEntries list_folder(const std::filesystem::path& folder);

/// Whether `path` leads to something inside of `root` once all links are resolved; `root` has to
/// be canonical. False for a link to nowhere.
bool leads_inside(const std::filesystem::path& path, const std::filesystem::path& root);

/// Folders on the way from a root to the one looked at, by device and inode: descending into one
/// of them again, through a link, would never end.
class Descent {
 public:
  /// Whether `folder` is new on this way; then it is on it until `leave`.
  bool enter(const std::filesystem::path& folder);
  void leave() { on_the_way_.pop_back(); }

 private:
  std::vector<std::pair<std::uintmax_t, std::uintmax_t>> on_the_way_;
};

/// Folders that hold copies or caches of other programs, never problems or candidates.
bool is_foreign_folder(const std::filesystem::path& folder);

}  // namespace kbench
