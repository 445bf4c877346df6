// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace kbench::ptx::random {

/// SplitMix64: the same numbers on every machine, compiler and library.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  /// A number in [0, bound); bound > 0.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((bits() >> 32) * bound) >> 32);
  }

  bool chance(std::uint32_t percent) { return below(100) < percent; }

  template <class Table>
  auto& one_of(Table& table) {
    return table[below(static_cast<std::uint32_t>(std::size(table)))];
  }

 private:
  std::uint64_t state_;
};

/// 64-bit FNV-1a, for texts and outputs that are told apart but not kept.
inline std::uint64_t hash_bytes(std::string_view bytes,
                                std::uint64_t hash = 0xcbf29ce484222325ULL) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace kbench::ptx::random
