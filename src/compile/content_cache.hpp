// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "compile/compile.hpp"

namespace kbench {

/// True if an error depends only on the source, not on the machine, its load or a limit. Only such
/// errors are kept.
bool is_lasting(const CompileError& error);

/// Results of compiles in a folder, one file per key. Files are written under a temporary name and
/// renamed, so several processes may use one folder. A damaged file counts as missing. If the
/// folder cannot be written, sources are compiled again.
class ContentCache {
 public:
  /// With an empty `folder`, it finds nothing and keeps nothing.
  explicit ContentCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// The result kept under `key`, if any.
  std::optional<CompileResult> load(const std::string& key) const;
  void store(const std::string& key, const CompileResult& result) const;
  /// Removes the least recently used files until at most `max_bytes` are left.
  void shrink(std::uintmax_t max_bytes = std::uintmax_t{2} << 30) const;

  /// A short text kept alongside the results, with the same checksum.
  std::optional<std::string> load_text(const std::string& key) const;
  void store_text(const std::string& key, std::string_view text) const;

 private:
  std::filesystem::path file(const std::string& key) const;
  std::filesystem::path folder_;
};

}  // namespace kbench
