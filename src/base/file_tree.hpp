// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kbench {

/// The bytes of a regular file, or why there are none.
struct FileBytes {
  std::string bytes;
  std::string error;       ///< a clause ("permission denied", "is a folder"); "" when it was read
  bool too_large = false;  ///< larger than allowed; nothing was read
  std::size_t size_bytes = 0;
};

/// Reads a regular file of at most `max_bytes`. Does not wait for pipes and devices.
FileBytes read_file(const std::filesystem::path& path, std::size_t max_bytes);

/// The whole content of a file, of any length; "" if it cannot be opened.
std::string file_text(const std::filesystem::path& path);

/// Replaces a file at once, so that readers never see a part of `text`, and makes its folder. False
/// if that fails; the file is then as before.
bool replace_file(const std::filesystem::path& path, std::string_view text);

/// Name, time and size as a text that changes if the file or folder changes.
std::string file_version(const std::filesystem::path& path);

/// The entries of a folder, without hidden ones, in natural order of names.
struct FolderEntries {
  std::vector<std::filesystem::path> files;  ///< everything but folders; links to files included
  std::vector<std::filesystem::path> folders;
};

/// Lists `folder`. Throws UsageError if it cannot be read.
FolderEntries list_folder(const std::filesystem::path& folder);

/// True if `path`, with all links resolved, is inside `root`, which must be canonical. False for a
/// broken link.
bool leads_inside(const std::filesystem::path& path, const std::filesystem::path& root);

/// The folders from a root to the current one, by device and inode. A link back to one of them
/// would make the descent endless.
class Descent {
 public:
  /// Adds `folder` until `leave`. False if it is already on the path.
  bool enter(const std::filesystem::path& folder);
  void leave() { on_the_way_.pop_back(); }

 private:
  std::vector<std::pair<std::uintmax_t, std::uintmax_t>> on_the_way_;
};

/// True for folders with copies or caches of other programs; they never hold problems or
/// candidates.
bool is_foreign_folder(const std::filesystem::path& folder);

}  // namespace kbench
