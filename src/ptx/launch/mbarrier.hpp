// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "ptx/machine/machine.hpp"

/// The state of an mbarrier, which kernels store as an opaque 64-bit value in shared memory.
namespace kbench::ptx {

/// The largest counts that PTX allows.
constexpr std::uint32_t kMostArrivals = (1U << 20) - 1;
constexpr std::int32_t kMostTransactions = (1 << 20) - 1;

struct Mbarrier {
  std::uint32_t pending = 0;   ///< arrivals still missing in this phase
  std::uint32_t expected = 0;  ///< arrivals expected in the next phase
  std::int32_t transactions = 0;
  std::uint32_t phase = 0;  ///< parity of the phase

  /// From low to high: 20 bits pending, 20 expected, 21 transactions, the phase, and the mark 10.
  /// Neither zeros nor the bytes that fill fresh shared memory (0xFF, 0x7E) contain the mark.
  std::uint64_t encode() const {
    const auto shifted = static_cast<std::uint32_t>(transactions + kMostTransactions + 1);
    return std::uint64_t{pending} | std::uint64_t{expected} << 20 | std::uint64_t{shifted} << 40 |
           std::uint64_t{phase} << 61 | std::uint64_t{2} << 62;
  }
  /// None if the word is not a valid mbarrier.
  static std::optional<Mbarrier> decode(std::uint64_t word) {
    if (word >> 62 != 2) return std::nullopt;
    Mbarrier barrier;
    barrier.pending = static_cast<std::uint32_t>(word & kMostArrivals);
    barrier.expected = static_cast<std::uint32_t>((word >> 20) & kMostArrivals);
    barrier.transactions =
        static_cast<std::int32_t>((word >> 40) & 0x1fffffU) - kMostTransactions - 1;
    barrier.phase = static_cast<std::uint32_t>((word >> 61) & 1U);
    return barrier;
  }
  /// Starts the next phase if this one is complete; false otherwise.
  bool complete() {
    if (pending != 0 || transactions != 0) return false;
    phase ^= 1U;
    pending = expected;
    return true;
  }
};

inline std::optional<Mbarrier> load_mbarrier(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return Mbarrier::decode(word);
}

/// Advances the phase if it is complete, stores the state and wakes waiting lanes.
void store_mbarrier(Context& c, std::byte* at, Mbarrier barrier);

/// Performs late arrivals at the mbarrier `at` until its phase completes. False if there are more
/// arrivals than it expects.
bool settle_arrivals(Context& c, std::byte* at);

/// Performs the copies of late arrivals at an mbarrier that has been invalidated.
void drop_arrivals(Context& c, const std::byte* at);

/// Adds to the transaction count; null on success, else the error text.
const char* add_transactions(Mbarrier& barrier, std::int64_t bytes);

}  // namespace kbench::ptx
