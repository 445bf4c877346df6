// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kbench::ptx::random {

/// What a value stands for. Bits of floating values never reach integers unless their NaNs were
/// replaced, because the payload of a NaN is nobody's promise.
enum class Kind : std::uint8_t {
  kPred,
  kB16,
  kB32,
  kB64,
  kF16,
  kBf16,
  kF16x2,
  kBf16x2,
  kF32,
  kF64,
};
constexpr std::size_t kKinds = 10;

/// Bytes of a value in memory (0: predicates have none).
constexpr std::size_t bytes_of(Kind kind) {
  constexpr std::array<std::size_t, kKinds> kBytes{0, 2, 4, 8, 2, 2, 4, 4, 4, 8};
  return kBytes[static_cast<std::size_t>(kind)];
}

/// How far two correct implementations may be apart: |a - b| <= relative * |a| + absolute, or both
/// NaN, or the same infinity. Zero: bit for bit.
struct Bound {
  double relative = 0, absolute = 0;
};

/// Bytes per output of a thread, whatever its kind.
constexpr std::size_t kSlotBytes = 8;

/// A kernel, its launch and its data. The parameters are, in order: the addresses of `input`, of
/// the results (results.size() arrays of one slot per thread), of `own` (kOwnBytes per thread) and
/// of `shared_counters`, and `scalars`.
struct Kernel {
  std::uint64_t seed = 0;
  std::string ptx;
  std::uint32_t block = 1, grid = 1;  ///< threads of a block, blocks
  std::uint32_t rows = 1;             ///< of the block: its shape is (block / rows, rows)
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::byte> input, own, counters;
  std::array<std::uint64_t, 3> scalars{};  ///< b32, f32, b64
  std::vector<Kind> results;
  std::vector<std::string> names;  ///< registers that the results are from
  Bound bound;
  std::vector<std::string> statements;  ///< what the body consists of, at its top level
  std::size_t threads() const { return std::size_t{block} * grid; }
};

constexpr std::size_t kOwnBytes = 64;
constexpr std::size_t kCounters = 32;

/// A region of a thread's own memory and what it holds.
struct OwnField {
  std::size_t offset;
  Kind kind;
};
/// Where the fields of a thread's own memory are; integers are four times eight bytes.
constexpr OwnField kOwnFields[] = {{0, Kind::kB64},  {8, Kind::kB64},    {16, Kind::kB64},
                                   {24, Kind::kB64}, {32, Kind::kF32},   {36, Kind::kF32},
                                   {40, Kind::kF64}, {48, Kind::kF16x2}, {52, Kind::kBf16x2},
                                   {56, Kind::kF16}, {58, Kind::kBf16},  {60, Kind::kF32}};

/// The input's sections: bytes from its start.
constexpr std::size_t kSectionBytes = 1024;
constexpr std::size_t kIntegers = 0, kFloats = 1024, kDoubles = 2048, kHalves = 3072,
                      kBfloats = 4096, kInputBytes = 5120;

}  // namespace kbench::ptx::random
