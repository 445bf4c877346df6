// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "ptx/machine/machine.hpp"

/// The state of an mbarrier, which kernels hold in 64 bits of shared memory as an opaque value.
namespace kbench::ptx {

/// PTX's largest counts.
constexpr std::uint32_t kMostArrivals = (1U << 20) - 1;
constexpr std::int32_t kMostTransactions = (1 << 20) - 1;

struct Mbarrier {
  std::uint32_t pending = 0;   ///< arrivals that this phase still expects
  std::uint32_t expected = 0;  ///< arrivals that the next phase expects
  std::int32_t transactions = 0;
  std::uint32_t phase = 0;  ///< its parity

  /// From low to high: 20 bits pending, 20 expected, 21 transactions, phase, and 01 as a mark that
  /// neither zeros nor fresh shared memory carry.
  std::uint64_t encode() const {
    const auto shifted = static_cast<std::uint32_t>(transactions + kMostTransactions + 1);
    return std::uint64_t{pending} | std::uint64_t{expected} << 20 | std::uint64_t{shifted} << 40 |
           std::uint64_t{phase} << 61 | std::uint64_t{1} << 62;
  }
  /// Nothing where the word is no mbarrier's.
  static std::optional<Mbarrier> decode(std::uint64_t word) {
    if (word >> 62 != 1) return std::nullopt;
    Mbarrier barrier;
    barrier.pending = static_cast<std::uint32_t>(word & kMostArrivals);
    barrier.expected = static_cast<std::uint32_t>((word >> 20) & kMostArrivals);
    barrier.transactions =
        static_cast<std::int32_t>((word >> 40) & 0x1fffffU) - kMostTransactions - 1;
    barrier.phase = static_cast<std::uint32_t>((word >> 61) & 1U);
    return barrier;
  }
  /// Begins the next phase where this one has all that it waits for.
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

/// Stores the state, after the phase has completed if it has; then those who wait go on.
void store_mbarrier(Context& c, std::byte* at, Mbarrier barrier);

/// Performs what is to arrive at the mbarrier `at`, until its phase completes. False where more
/// arrives than it expects.
bool settle_arrivals(Context& c, std::byte* at);

/// Performs the copies of what is to arrive at an mbarrier that is no more.
void drop_arrivals(Context& c, const std::byte* at);

/// Null where all is well, else what is wrong with a number of transactions.
const char* add_transactions(Mbarrier& barrier, std::int64_t bytes);

}  // namespace kbench::ptx
