// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include "ptx/memory/access.hpp"
#include "ptx/memory/shape.hpp"

/// Finds reads of memory that was never written. Such memory holds 0xFF bytes. A bit for each
/// aligned 2-byte word says if 0xFFFF was written there. So an access needs a check only if its
/// value contains a word 0xFFFF.
namespace kbench::ptx {

/// Watched memory, and the address of its start in its space.
struct Watched {
  Written* written = nullptr;  ///< null: all of it counts as written
  const std::byte* host = nullptr;
  std::uint64_t begin = 0, bytes = 0;
};

/// The memory that holds an address of `space`, which is not kGeneric. Global: the extent used
/// last.
Watched watched_memory(const Context& c, const Instr& in, unsigned lane, Space space);

/// Call before an access of one lane: checks what it reads, and records what it writes.
void watch(Context& c, const Instr& in, unsigned lane, Space space, std::uint64_t address,
           std::uint64_t bytes, Access access);

/// Like watch(), for the loads of a shape's lanes. Call it if some value contains a word 0xFFFF.
void watch_loads(Context& c, const Instr& in, Space space, const Shape& shape, std::uint64_t bytes);

/// Values in a register, with stored bytes and distance between lanes.
struct StoredValues {
  const std::byte* first = nullptr;
  std::size_t bytes = 0, stride = 0;
};

/// Call before stores of the lanes of a shape: records words 0xFFFF among the values.
void watch_stores(Context& c, const Instr& in, Space space, const Shape& shape, const std::byte* to,
                  const StoredValues& values);

/// Marks a range of a block's shared memory as written; another block writes it.
void mark_shared(Block& block, std::uint64_t offset, std::uint64_t bytes);

/// Marks a range of a lane's local memory as written, for writes without a store instruction.
void mark_local(Warp& warp, unsigned lane, std::uint64_t offset, std::uint64_t bytes);

/// True if memory contains a word of ones. `at` is aligned to 2. For a single byte, only that byte
/// counts. Exempt from thread sanitizer, because a race with a kernel's write is the kernel's
/// fault.
[[gnu::no_sanitize_thread]] inline bool has_ones(const std::byte* at, std::size_t bytes) {
  if (bytes == 1) return *at == std::byte{0xff};
  bool found = false;
  for (std::size_t i = 0; i < bytes; i += 2) {
    found |= (at[i] & at[i + 1]) == std::byte{0xff};
  }
  return found;
}

/// True if one of 32 values, in the size stored, contains a word of ones, or a byte of ones for
/// one-byte values.
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
