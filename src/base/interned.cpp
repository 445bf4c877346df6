// SPDX-License-Identifier: MIT
#include <array>
#include <mutex>
#include <ostream>
#include <unordered_set>

#include "kbench/values.hpp"

namespace kbench {
namespace {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

struct Shard {
  std::mutex mutex;
  std::unordered_set<std::string, TextHash, std::equal_to<>> texts;
};

// Never destroyed, because other static objects may use Interned values in their destructors.
std::array<Shard, 16>& shards() {
  static auto* all = new std::array<Shard, 16>();
  return *all;
}

const std::string& kept(std::string_view text, std::size_t hash) {
  Shard& shard = shards()[hash >> 60];
  const std::scoped_lock lock(shard.mutex);
  const auto found = shard.texts.find(text);
  return found != shard.texts.end() ? *found : *shard.texts.emplace(text).first;
}

}  // namespace

Interned::Interned(std::string_view text) {
  if (text.empty()) return;
  // A thread often sees the same texts again, such as hashes of one run or names of one model.
  thread_local std::array<const std::string*, 64> recent{};
  const std::size_t hash = TextHash()(text);
  const std::string*& last = recent[hash % recent.size()];
  if (last == nullptr || *last != text) last = &kept(text, hash);
  text_ = last;
}

const std::string& Interned::none() {
  static const auto* text = new std::string();
  return *text;
}

std::ostream& operator<<(std::ostream& out, const Interned& text) { return out << text.str(); }

}  // namespace kbench
