// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <vector>

/// What memory that a call has yet to write holds before the call. A kernel that computes only
/// where it finds one certain content is right with that content alone, so there are several.
namespace kbench::worker {

/// A byte that fills memory; or, from kDataPoison on, an input's content from some place on.
using Poison = std::uint32_t;
/// A NaN in every floating type, −1 in integers.
inline constexpr Poison kPoison = 0xff;
inline constexpr Poison kZeroPoison = 0x00;
/// A huge finite number in every type: it shows where fmax and comparisons hide a NaN.
inline constexpr Poison kLoudPoison = 0x7b;
inline constexpr Poison kDataPoison = 0x100;
/// Places of an input: kDataPoison + n begins n of so many parts behind its start.
inline constexpr Poison kDataPlaces = 0x10000;

enum class PoisonKind : std::uint8_t {
  kNaN,
  kZero,
  kLoud,
  kPlausible,  ///< a number as answers are: below 30 in fp32, fp16 and bf16, of either sign
  kData,       ///< an input's content, which a kernel cannot tell from a result
};
inline constexpr std::size_t kPoisonKinds = 5;
PoisonKind poison_kind(Poison poison);

/// Chooses what memory holds before each call whose answer is compared.
class PoisonOrder {
 public:
  explicit PoisonOrder(std::uint64_t seed) : random_(seed) {}
  /// Each kind comes once in five calls, in an order that the seed decides. NaN comes first: it
  /// tells best what a wrong call left unwritten.
  Poison next();
  /// For calls that are timed: one byte, and not zero. A call could save the time of writing what
  /// memory holds already.
  Poison next_timed();
  void note_compared(Poison poison) { compared_.insert(poison_kind(poison)); }
  /// One of each kind that no compared call has found yet.
  std::vector<Poison> not_compared();

 private:
  Poison poison_of(PoisonKind kind);

  std::mt19937_64 random_;
  std::vector<PoisonKind> left_;  ///< of five calls, the last one first
  std::set<PoisonKind> compared_;
  bool begun_ = false;
};

/// Decides what fill_new_memory() writes from now on: NaN until it is set. Keeps a copy of the
/// beginning of `data`, which is an input's.
void set_memory_poison(Poison poison, std::span<const std::byte> data = {});
/// Fills what this process allocates for a candidate; from any thread.
void fill_new_memory(std::byte* memory, std::size_t size_bytes);

/// The byte that stands for a poison where there is no data.
std::uint8_t poison_byte(Poison poison);
/// Where in so many bytes of data a poison begins: a multiple of 8.
std::size_t poison_offset(Poison poison, std::size_t data_bytes);

/// Writes data from that place on, then what comes before it, and this again and again: by
/// `copy(to, from, size_bytes)`.
template <typename Copy>
void spread_data(std::byte* memory, std::size_t size_bytes, Poison poison,
                 std::span<const std::byte> data, const Copy& copy) {
  std::size_t filled = 0;
  const auto append = [&](const std::byte* from, std::size_t bytes) {
    bytes = bytes < size_bytes - filled ? bytes : size_bytes - filled;
    if (bytes > 0) copy(memory + filled, from, bytes);
    filled += bytes;
  };
  const std::size_t offset = poison_offset(poison, data.size());
  append(data.data() + offset, data.size() - offset);
  append(data.data(), offset);
  while (filled < size_bytes) append(memory, filled);
}

}  // namespace kbench::worker
