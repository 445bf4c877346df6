// SPDX-License-Identifier: MIT
#include "kbench/interned.hpp"

#include <array>
#include <mutex>
#include <ostream>
#include <unordered_set>

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

// Never destroyed: Interned values may be used by other static objects while they are torn down.
std::array<Shard, 16>& shards() {
  static auto* all = new std::array<Shard, 16>();
  return *all;
}

}  // namespace

Interned::Interned(std::string_view text) {
  if (text.empty()) return;
  Shard& shard = shards()[TextHash()(text) >> 60];
  const std::scoped_lock lock(shard.mutex);
  auto found = shard.texts.find(text);
  if (found == shard.texts.end()) found = shard.texts.emplace(text).first;
  text_ = &*found;
}

const std::string& Interned::none() {
  static const auto* text = new std::string();
  return *text;
}

std::ostream& operator<<(std::ostream& out, const Interned& text) { return out << text.str(); }

}  // namespace kbench
