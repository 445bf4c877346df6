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

/// The result of running a problem file: its signature, or a sentence with the reason of its
/// failure.
using SignatureResult = std::variant<Signature, std::string>;

/// A cache of signatures by content, kept between runs. Finding one takes microseconds; making one
/// takes a process with torch. One file per torch version has all entries, so listing hundreds of
/// problems opens one file. The file is replaced by rename. A file of another version is ignored;
/// of a damaged file, the intact entries are used. For one thread at a time.
class SignatureCache {
 public:
  /// Entries live in `folder`, which need not exist. Nothing is read before the first look-up.
  SignatureCache(const std::filesystem::path& folder, std::string torch_version);

  /// Hash of all that a signature depends on: the problem's key and source, the sizes it runs with,
  /// the precision row, the torch version and the format of the entries.
  std::string key(const Problem& problem, const Sizes& sizes, std::string_view precision) const;

  /// The entry of `key`, if there is one.
  std::optional<SignatureResult> find(std::string_view key);

  /// Adds an entry; `flush` writes it to disk. Add only failures that would recur, so not a dead
  /// worker or a lack of memory.
  void put(const std::string& key, const SignatureResult& result);

  /// The same for other texts about a problem. The caller makes the key; key() is not used.
  std::optional<std::string> find_text(std::string_view key);
  void put_text(const std::string& key, std::string text);

  /// Writes the added entries, together with those that other processes have written meanwhile.
  /// Drops the oldest entries if the file would exceed 64 MB. Throws kbench::Error if writing
  /// fails.
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
