// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "kbench/problem.hpp"

namespace kbench {

/// What running a problem file gave: its signature, or the sentence of its failure.
using SignatureResult = std::variant<Signature, std::string>;

/// Signatures by content, over runs: finding one costs microseconds, making one a process with
/// torch. One file per torch version holds them all, so that a listing of hundreds of problems
/// opens one file; it is replaced by rename, and a file that is damaged, cut off or of another
/// version counts as empty. Not for several threads at once.
class SignatureCache {
 public:
  /// Entries live in `folder`, which need not exist. Nothing is read before the first look-up.
  SignatureCache(const std::filesystem::path& folder, std::string torch_version);

  /// Hash of all that a signature follows from: the problem's key and source, the sizes it runs
  /// with, the precision row, the torch version and the form of the entries.
  std::string key(const Problem& problem, const Sizes& sizes, std::string_view precision) const;

  /// The entry of `key`, if there is one.
  std::optional<SignatureResult> find(std::string_view key);

  /// Remembers an entry; it is on disk after `flush`. A failure belongs here only if it would come
  /// again: neither a worker that died nor a lack of memory.
  void put(const std::string& key, const SignatureResult& result);

  /// The same for a text that belongs to a problem, under a key of another kind.
  std::optional<std::string> find_text(std::string_view key);
  void put_text(const std::string& key, std::string text);

  /// Writes what was put, together with what other processes have written meanwhile; the oldest
  /// entries go where the file would exceed 64 MB. Throws kbench::Error where it cannot be written.
  void flush();

 private:
  void load();
  std::optional<std::string_view> find_bytes(std::string_view key);

  std::filesystem::path file_;
  std::string torch_version_;
  bool loaded_ = false;
  std::string bytes_;  ///< the file as it was read; `known_` points into it
  std::unordered_map<std::string_view, std::string_view> known_;
  std::map<std::string, std::string, std::less<>> added_;  ///< encoded, not yet on disk
};

}  // namespace kbench
