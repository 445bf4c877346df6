// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>

#include "ptx/observe/races_shared.hpp"

/// Races between threads of one block on global memory.
namespace kbench::ptx {

/// The last write and a read of a word by threads of one block. Each is a ThreadAccess in 64 bits,
/// with its block, so host threads that run other blocks may replace it at any time.
struct ThreadShadow {
  std::atomic<std::uint64_t> write{0}, read{0};
};

/// One access of a lane to one word, for the checks between threads of its block.
struct WordAccess {
  const LaneAccess& access;
  const BlockOrdering& block;
  std::uint32_t block_number = 0;  ///< at most 20 bits, not 0, unique in the launch
  std::uint64_t bytes = 0;         ///< mask of bytes in the word
};

/// An access of another thread of the block that races with a lane's access.
struct OtherThread {
  std::uint32_t thread = 0;
  std::optional<std::uint32_t> number;  ///< of the instruction, if it was recorded
  bool writes = false;
};

/// A warp's accesses from kLastTime on are treated as ordered. kLastNumber stands for itself and
/// all higher numbers of instructions.
constexpr std::uint64_t kThreadBlockMask = 0xfffff, kLastTime = 0xffff, kLastNumber = 0xfff;
/// The access as a ThreadAccess in 64 bits.
inline std::uint64_t packed(const WordAccess& now) {
  return now.block_number | std::uint64_t{now.access.thread()} << 20 |
         std::min<std::uint64_t>(now.access.time, kLastTime) << 30 |
         std::min<std::uint64_t>(now.access.number, kLastNumber) << 46 | now.bytes << 58 |
         std::uint64_t{now.access.traits.atomic} << 62;
}

/// Like check_read() and check_write(), for words that the block knows.
std::optional<OtherThread> check_read_again(const WordAccess& now, ThreadShadow& shadow);
std::optional<OtherThread> check_write_again(const WordAccess& now, ThreadShadow& shadow);

/// True if the block has already accessed the word.
inline bool knows(const ThreadShadow& shadow, std::uint32_t block) {
  return (shadow.write.load(std::memory_order_relaxed) & kThreadBlockMask) == block ||
         (shadow.read.load(std::memory_order_relaxed) & kThreadBlockMask) == block;
}

/// Checks and records a read.
inline std::optional<OtherThread> check_read(const WordAccess& now, ThreadShadow& shadow) {
  if (knows(shadow, now.block_number)) return check_read_again(now, shadow);
  shadow.read.store(packed(now), std::memory_order_relaxed);
  return std::nullopt;
}
/// Checks and records a write. It is a race only if it changes the value.
inline std::optional<OtherThread> check_write(const WordAccess& now, ThreadShadow& shadow) {
  if (knows(shadow, now.block_number)) return check_write_again(now, shadow);
  shadow.write.store(packed(now), std::memory_order_relaxed);
  return std::nullopt;
}

}  // namespace kbench::ptx
