// SPDX-License-Identifier: MIT
#include "compile/content_cache.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/file_tree.hpp"
#include "base/hash.hpp"
#include "compile/compiler_fault.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigestChars = 64;

struct Entry {
  fs::path path;
  fs::file_time_type used;
  std::uintmax_t bytes;
};

std::vector<Entry> entries_of(const fs::path& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (const auto& file : fs::recursive_directory_iterator(folder, error)) {
    std::error_code gone;  // another process may remove it meanwhile
    if (!file.is_regular_file(gone)) continue;
    const Entry entry{file.path(), file.last_write_time(gone), file.file_size(gone)};
    if (!gone) entries.push_back(entry);
  }
  return entries;
}

}  // namespace

bool is_lasting(const CompileError& error) {
  return error.cause != "compile_timeout" && error.cause != "compiler_killed" &&
         error.cause != kCompilerFault;
}

fs::path ContentCache::file(const std::string& key) const {
  return folder_ / key.substr(0, 2) / key;
}

std::optional<std::string> ContentCache::load_text(const std::string& key) const {
  if (folder_.empty()) return std::nullopt;
  std::ifstream stream(file(key), std::ios::binary);
  if (!stream) return std::nullopt;
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  if (bytes.size() < kDigestChars) return std::nullopt;
  std::string text = bytes.substr(kDigestChars);
  if (sha256_hex(text) != bytes.substr(0, kDigestChars)) return std::nullopt;
  std::error_code ignored;
  fs::last_write_time(file(key), fs::file_time_type::clock::now(), ignored);
  return text;
}

void ContentCache::store_text(const std::string& key, std::string_view text) const {
  if (folder_.empty()) return;
  replace_file(file(key), sha256_hex(text).append(text));
}

void ContentCache::shrink(std::uintmax_t max_bytes) const {
  if (folder_.empty()) return;
  std::vector<Entry> entries = entries_of(folder_);
  std::uintmax_t total = 0;
  for (const auto& entry : entries) total += entry.bytes;
  if (total <= max_bytes) return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const auto& entry : entries) {
    if (total <= max_bytes) return;
    std::error_code ignored;
    fs::remove(entry.path, ignored);
    total -= entry.bytes;
  }
}

}  // namespace kbench
