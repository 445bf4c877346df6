// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <span>
#include <vector>

/// Poison: the content of memory before a call writes it. There are several kinds, because a kernel
/// may compute only if it finds one certain content, and would be right with that one alone.
namespace kbench::worker {

/// A byte that fills memory; or, from kDataPoison on, an input's content from a certain offset.
using Poison = std::uint32_t;
/// A NaN in every floating type, −1 in integers.
inline constexpr Poison kPoison = 0xff;
inline constexpr Poison kZeroPoison = 0x00;
/// A huge finite number in every type. It shows errors if fmax and comparisons hide a NaN.
inline constexpr Poison kLoudPoison = 0x7b;
inline constexpr Poison kDataPoison = 0x100;
/// Offsets in an input: kDataPoison + n begins at n/kDataPlaces of its size.
inline constexpr Poison kDataPlaces = 0x10000;

enum class PoisonKind : std::uint8_t {
  kNaN,
  kZero,
  kLoud,
  kPlausible,  ///< a typical answer: below 30 in fp32, fp16 and bf16, of either sign
  kData,       ///< an input's content, which a kernel cannot distinguish from a result
};
inline constexpr std::size_t kPoisonKinds = 5;
PoisonKind poison_kind(Poison poison);

/// Chooses the poison before each call.
class PoisonOrder {
 public:
  explicit PoisonOrder(std::uint64_t seed) : random_(seed) {}
  /// The poison for a call whose answer is compared. Each kind comes once in five calls, in an
  /// order that the seed decides. The first poison is NaN, because it shows best which memory a
  /// wrong call left unwritten.
  Poison next();
  /// The poison for a timed call: one byte, and not zero. A call could save the time of writing
  /// values that memory already contains.
  Poison next_timed();
  void note_compared(Poison poison) { compared_.insert(poison_kind(poison)); }
  /// One poison of each kind that no compared call has had yet.
  std::vector<Poison> not_compared();

 private:
  Poison poison_of(PoisonKind kind);

  std::mt19937_64 random_;
  std::vector<PoisonKind> left_;  ///< for the rest of five calls, the last one first
  std::set<PoisonKind> compared_;
  bool begun_ = false;
};

/// Sets the content that fill_new_memory() writes from now on; before the first call, NaN. Keeps a
/// copy of the beginning of `data`, an input's content.
void set_memory_poison(Poison poison, std::span<const std::byte> data = {});
/// Fills memory that this process allocates for a candidate. May be called from any thread.
void fill_new_memory(std::byte* memory, std::size_t size_bytes);

/// The byte that replaces a poison if there is no data.
std::uint8_t poison_byte(Poison poison);
/// The offset at which a poison begins in this many bytes of data: a multiple of 8.
std::size_t poison_offset(Poison poison, std::size_t data_bytes);

/// Fills memory with the data from the poison's offset on, then with the data before it, and
/// repeats. Calls `copy(to, from, size_bytes)`.
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
