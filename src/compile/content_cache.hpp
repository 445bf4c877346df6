// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "compile/compile.hpp"

namespace kbench {

/// Whether an error is worth keeping: it says something about the source, and nothing about the
/// moment, the machine or a limit.
bool is_lasting(const CompileError& error);

/// Results of compiles in a folder, one file per key, written under a temporary name and renamed,
/// so that any number of processes may share it. A file that is damaged is as good as none. A
/// folder that cannot be written only costs time.
class ContentCache {
 public:
  /// No folder: nothing is found and nothing kept.
  explicit ContentCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// The result kept under `key`.
  std::optional<CompileResult> load(const std::string& key) const;
  void store(const std::string& key, const CompileResult& result) const;
  /// Removes the files not used for longest until at most `max_bytes` are left.
  void shrink(std::uintmax_t max_bytes = std::uintmax_t{2} << 30) const;

  /// A short text kept beside the results, checked in the same way.
  std::optional<std::string> load_text(const std::string& key) const;
  void store_text(const std::string& key, std::string_view text) const;

 private:
  std::filesystem::path file(const std::string& key) const;
  std::filesystem::path folder_;
};

}  // namespace kbench
