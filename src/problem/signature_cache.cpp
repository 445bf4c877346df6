// SPDX-License-Identifier: MIT
#include "problem/signature_cache.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/file_tree.hpp"
#include "base/hash.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;

constexpr std::size_t kMaxCacheBytes = 64u << 20;
/// Raise this number whenever the format of an entry changes.
constexpr int kSignatureSchema = 4;

void append_field(std::string& bytes, std::string_view field) {
  const auto length = static_cast<std::uint32_t>(field.size());
  bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes.append(field);
}

/// Removes a field from the front of `bytes`; false if it is cut off.
bool take_field(std::string_view& bytes, std::string_view& field) {
  std::uint32_t length = 0;
  if (bytes.size() < sizeof length) return false;
  std::memcpy(&length, bytes.data(), sizeof length);
  if (bytes.size() - sizeof length < length) return false;
  field = bytes.substr(sizeof length, length);
  bytes.remove_prefix(sizeof length + length);
  return true;
}

/// As CBOR (RFC 8949). A failure is stored as only its message.
std::string encode(const SignatureResult& result) {
  const auto* failure = std::get_if<std::string>(&result);
  std::string bytes;
  json::to_cbor(failure != nullptr ? json(*failure) : to_json(std::get<Signature>(result)), bytes);
  return bytes;
}

/// Nothing if the bytes are damaged.
std::optional<SignatureResult> decode(std::string_view bytes) {
  try {
    const json found = json::from_cbor(bytes);
    if (found.is_string()) return found.get<std::string>();
    return signature_from_json(found);
  } catch (const json::exception&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

using Entries = std::vector<std::pair<std::string_view, std::string_view>>;

std::string header() { return fmt::format("kbench signatures {}\n", kSignatureSchema); }

/// The intact entries at the start of a cache file, oldest first.
Entries entries_of(std::string_view bytes) {
  Entries entries;
  if (!bytes.starts_with(header())) return entries;
  bytes.remove_prefix(header().size());
  std::string_view key, value;
  while (take_field(bytes, key) && take_field(bytes, value)) entries.emplace_back(key, value);
  return entries;
}

/// Replaces special characters. Some tools misread the "+" of torch versions, and a path separator
/// would lead out of the folder.
std::string file_name(std::string_view torch_version) {
  std::string name = "signatures-";
  for (const char c : torch_version) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '.' || c == '-';
    name += plain ? c : '_';
  }
  return name + ".bin";
}

}  // namespace

SignatureCache::SignatureCache(const fs::path& folder, std::string torch_version)
    : file_(folder / file_name(torch_version)), torch_version_(std::move(torch_version)) {}

std::string SignatureCache::key(const Problem& problem, const Sizes& sizes,
                                std::string_view precision) const {
  return Sha256()
      .field("signature")
      .field(fmt::format("{}", kSignatureSchema))
      .field(torch_version_)
      .field(precision)
      .field(problem.key)
      .field(problem_hash(problem, sizes))
      .hex();
}

std::optional<std::string_view> SignatureCache::find_bytes(std::string_view key) {
  if (const auto added = added_.find(key); added != added_.end()) return added->second;
  if (!loaded_) load();
  const auto known = known_.find(key);
  return known == known_.end() ? std::nullopt : std::optional(known->second);
}

std::optional<SignatureResult> SignatureCache::find(std::string_view key) {
  const auto bytes = find_bytes(key);
  return bytes ? decode(*bytes) : std::nullopt;
}

std::optional<std::string> SignatureCache::find_text(std::string_view key) {
  const auto bytes = find_bytes(key);
  return bytes ? std::optional(std::string(*bytes)) : std::nullopt;
}

void SignatureCache::put_text(const std::string& key, std::string text) {
  added_.insert_or_assign(key, std::move(text));
}

void SignatureCache::put(const std::string& key, const SignatureResult& result) {
  added_.insert_or_assign(key, encode(result));
}

void SignatureCache::flush() {
  if (added_.empty()) return;
  load();
  const auto size_of = [](const auto& entry) { return entry.first.size() + entry.second.size(); };
  Entries old = entries_of(bytes_);
  std::erase_if(old, [&](const auto& entry) { return added_.contains(entry.first); });
  std::size_t total = 0;
  for (const auto& entry : old) total += size_of(entry);
  for (const auto& entry : added_) total += size_of(entry);
  std::string content = header();
  for (const auto& entry : old) {
    if (total > kMaxCacheBytes) {
      total -= size_of(entry);
      continue;
    }
    append_field(content, entry.first);
    append_field(content, entry.second);
  }
  for (const auto& [key, value] : added_) {
    append_field(content, key);
    append_field(content, value);
  }
  if (!replace_file(file_, content))
    throw Error(
        fmt::format("cannot write the cache of signatures {}: make its folder writable, or set "
                    "KBENCH_HOME to a writable folder with free space",
                    file_.string()));
  added_.clear();
  loaded_ = false;
}

void SignatureCache::load() {
  known_.clear();
  bytes_ = read_file(file_, 2 * kMaxCacheBytes).bytes;
  for (const auto& [key, value] : entries_of(bytes_)) known_.insert_or_assign(key, value);
  loaded_ = true;
}

}  // namespace kbench
