// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "ptx/memory/access.hpp"
#include "ptx/memory/shape.hpp"

/// Reads of memory that nobody has written. Such memory holds 0xFF bytes; of what holds them, a bit
/// for each aligned word of 2 bytes tells whether it was written. So only accesses of values with a
/// word 0xFFFF have to look.
namespace kbench::ptx {

/// Memory that is watched, and where it begins as addresses of its space count.
struct Watched {
  Written* written = nullptr;  ///< null: all of it counts as written
  const std::byte* host = nullptr;
  std::uint64_t begin = 0, bytes = 0;
};

/// What an address of the space lies in; `space` is not generic. Global: the extent used last.
Watched watched_memory(const Context& c, const Instr& in, unsigned lane, Space space);

/// Before an access of one lane: looks at what it reads, and notes what it writes.
void watch(Context& c, const Instr& in, unsigned lane, Space space, std::uint64_t address,
           std::uint64_t bytes, Access access);

/// The same for loads of the lanes of a shape, some of whose values have a word 0xFFFF.
void watch_loads(Context& c, const Instr& in, Space space, const Shape& shape, std::uint64_t bytes);

/// Values in a register: how much of each is stored, and how far apart the lanes are.
struct StoredValues {
  const std::byte* first = nullptr;
  std::size_t bytes = 0, stride = 0;
};

/// Before stores of the lanes of a shape: notes the words 0xFFFF among the values.
void watch_stores(Context& c, const Instr& in, Space space, const Shape& shape, const std::byte* to,
                  const StoredValues& values);

/// Marks a stretch of a block's shared memory, which another block writes.
void mark_shared(Block& block, std::uint64_t offset, std::uint64_t bytes);

/// Marks a stretch of a lane's local memory, which is written without an instruction that stores.
void mark_local(Warp& warp, unsigned lane, std::uint64_t offset, std::uint64_t bytes);

/// Whether a stretch of memory, aligned to 2 unless it is one byte, has a word (a byte) of ones. A
/// kernel may be writing there just now: that is no race of ours.
[[gnu::no_sanitize_thread]] inline bool has_ones(const std::byte* at, std::size_t bytes) {
  if (bytes == 1) return *at == std::byte{0xff};
  bool found = false;
  for (std::size_t i = 0; i < bytes; i += 2) {
    found |= (at[i] & at[i + 1]) == std::byte{0xff};
  }
  return found;
}

/// Whether one of 32 values, as memory holds them, has a word (a byte has a byte) of ones.
template <class M, class R>
inline bool has_ones(const R* values) {
  using U = std::make_unsigned_t<M>;
  if constexpr (sizeof(M) == sizeof(R) && sizeof(M) >= 2) {
    const auto* words = reinterpret_cast<const std::uint16_t*>(values);
    std::uint16_t most = 0;
    for (unsigned i = 0; i < kLanes * sizeof(M) / 2; ++i) most = words[i] > most ? words[i] : most;
    return most == 0xffff;
  } else {
    constexpr unsigned kBits = sizeof(M) == 1 ? 8 : 16;
    constexpr U kOnes = static_cast<U>((1U << kBits) - 1);
    bool found = false;
    for (unsigned i = 0; i < kLanes; ++i) {
      const U value = static_cast<U>(values[i]);
      for (unsigned at = 0; at < 8 * sizeof(M); at += kBits) {
        found |= static_cast<U>(static_cast<U>(value >> at) & kOnes) == kOnes;
      }
    }
    return found;
  }
}

}  // namespace kbench::ptx
