// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "compile/compile.hpp"
#include "kbench/error.hpp"

namespace kbench {

/// True if an error depends only on the source, not on the machine, its load or a limit. Only such
/// errors are kept.
bool is_lasting(const CompileError& error);

/// Texts in a folder, one file with a checksum per key. Files are written under a temporary name
/// and renamed, so several processes may use one folder. A damaged file counts as missing. If the
/// folder cannot be written, sources are compiled again.
class ContentCache {
 public:
  /// With an empty `folder`, it finds nothing and keeps nothing.
  explicit ContentCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// The text kept under `key`, if any.
  std::optional<std::string> load_text(const std::string& key) const;
  void store_text(const std::string& key, std::string_view text) const;
  /// Removes the least recently used files until at most `max_bytes` are left.
  void shrink(std::uintmax_t max_bytes = std::uintmax_t{2} << 30) const;

 private:
  std::filesystem::path file(const std::string& key) const;
  std::filesystem::path folder_;
};

/// Results of compiles by content: successes and errors. `Unpack` reads what pack() has written.
template <typename Result, Result (*Unpack)(std::string_view)>
class ResultCache : public ContentCache {
 public:
  using ContentCache::ContentCache;
  /// Shrinks the folder if something was added to it.
  ~ResultCache() {
    if (stored_) shrink();
  }
  ResultCache(const ResultCache&) = delete;
  ResultCache& operator=(const ResultCache&) = delete;

  /// The result kept under `key`, if any.
  std::optional<Result> load(const std::string& key) const {
    const auto text = load_text(key);
    if (!text) return std::nullopt;
    try {
      Result result = Unpack(*text);
      const auto* error = std::get_if<CompileError>(&result);
      if (error != nullptr && !is_lasting(*error)) return std::nullopt;  // of an older cache
      std::visit([](auto& alternative) { alternative.cached = true; }, result);
      return result;
    } catch (const Error&) {
      return std::nullopt;  // written by another version
    }
  }
  /// Keeps the result, unless it is an error that does not depend on the source alone.
  void store(const std::string& key, const Result& result) {
    const auto* error = std::get_if<CompileError>(&result);
    if (error != nullptr && !is_lasting(*error)) return;
    store_text(key, pack(result));
    stored_ = true;
  }

 private:
  std::atomic<bool> stored_ = false;
};

}  // namespace kbench
