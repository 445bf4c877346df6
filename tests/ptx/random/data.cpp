// SPDX-License-Identifier: MIT
#include "ptx/random/data.hpp"

#include <cstring>

namespace kbench::ptx::random {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// A floating format: bits of the exponent and of the fraction.
struct Format {
  u32 exponent, fraction;
};
constexpr Format kHalf{5, 10}, kBfloat{8, 7}, kSingle{8, 23}, kDouble{11, 52};

u64 integer(Rng& rng, u32 bits) {
  const u64 mask = bits == 64 ? ~u64{0} : (u64{1} << bits) - 1;
  const u32 shift = rng.below(bits);
  const u32 choice = rng.below(8);
  const u64 any = rng.bits();
  switch (choice) {
    case 0:
      return any % 70;
    case 1:
      return (0 - any % 70) & mask;
    case 2:
      return u64{1} << shift;
    case 3:
      return ((u64{1} << shift) - any % 3) & mask;
    case 4:
      return (mask >> 1) + any % 2;
    case 5:
      return (any & mask) >> shift;
    default:
      return any & mask;
  }
}

u64 edge(Rng& rng, Format f) {
  const u64 one = u64{1} << f.fraction;
  const u64 infinity = ((u64{1} << f.exponent) - 1) << f.fraction;
  const u64 unit = (infinity >> 1) & ~(one - 1);  // 1.0
  const u32 choice = rng.below(14);
  const u64 small = rng.bits() % 4;
  switch (choice) {
    case 0:
      return 0;
    case 1:
      return 1 + small;  // the smallest subnormals
    case 2:
      return one - 1 - small;  // the largest subnormals
    case 3:
      return one + small;  // the smallest normals
    case 4:
      return infinity - 1 - small;  // the largest normals
    case 5:
      return infinity;
    case 6:
      return infinity | (one >> 1) | small;  // NaN
    case 7:
      return unit + small;
    case 8:
      return unit - 1 - small;
    case 9:
      return unit - one;  // 0.5
    case 10:
      return unit + (one >> 1);  // 1.5
    case 11:
      return rng.bits() & (one - 1);  // any subnormal
    default:                          // a power of two
      return (u64{rng.below((1U << f.exponent) - 2)} + 1) << f.fraction;
  }
}

u64 floating(Rng& rng, Format f) {
  const u64 sign = (rng.bits() & 1) << (f.exponent + f.fraction);
  const u32 choice = rng.below(20);
  if (choice < 5) return edge(rng, f) | sign;
  u64 fraction = rng.bits() & ((u64{1} << f.fraction) - 1);
  if (choice < 10) {  // few bits set: sums and products that are exact or ties
    const u32 kept = rng.below(f.fraction / 2 + 1);
    fraction = fraction >> (f.fraction - kept) << (f.fraction - kept);
  }
  const u64 bias = (u64{1} << (f.exponent - 1)) - 1;
  const u64 near = bias - 8 + rng.below(17);
  const u64 any = 1 + rng.below((1U << f.exponent) - 2);
  return sign | ((choice < 16 ? near : any) << f.fraction) | fraction;
}

template <class Fill>
void fill(std::vector<std::byte>& data, std::size_t start, std::size_t bytes, std::size_t each,
          Fill value) {
  for (std::size_t at = start; at < start + bytes; at += each) {
    const u64 bits = value();
    std::memcpy(data.data() + at, &bits, each);
  }
}

}  // namespace

std::uint64_t sample(Rng& rng, Kind kind) {
  switch (kind) {
    case Kind::kPred:
      return rng.bits() & 1;
    case Kind::kB16:
      return integer(rng, 16);
    case Kind::kB32:
      return integer(rng, 32);
    case Kind::kB64:
      return integer(rng, 64);
    case Kind::kF16:
      return floating(rng, kHalf);
    case Kind::kBf16:
      return floating(rng, kBfloat);
    case Kind::kF16x2: {
      const u64 low = floating(rng, kHalf);
      return low | floating(rng, kHalf) << 16;
    }
    case Kind::kBf16x2: {
      const u64 low = floating(rng, kBfloat);
      return low | floating(rng, kBfloat) << 16;
    }
    case Kind::kF32:
      return floating(rng, kSingle);
    case Kind::kF64:
      return floating(rng, kDouble);
  }
  return 0;
}

std::vector<std::byte> input_data(Rng& rng) {
  std::vector<std::byte> data(kInputBytes);
  const auto section = [&](std::size_t start, std::size_t bytes, Kind kind) {
    fill(data, start, bytes, bytes_of(kind), [&] { return sample(rng, kind); });
  };
  section(kIntegers, kSectionBytes / 4, Kind::kB16);
  section(kIntegers + kSectionBytes / 4, kSectionBytes / 2, Kind::kB32);
  section(kIntegers + 3 * kSectionBytes / 4, kSectionBytes / 4, Kind::kB64);
  section(kFloats, kSectionBytes, Kind::kF32);
  section(kDoubles, kSectionBytes, Kind::kF64);
  section(kHalves, kSectionBytes, Kind::kF16);
  section(kBfloats, kSectionBytes, Kind::kBf16);
  return data;
}

std::vector<std::byte> own_data(Rng& rng, std::size_t threads) {
  std::vector<std::byte> data(threads * kOwnBytes);
  for (std::size_t thread = 0; thread < threads; ++thread) {
    for (const OwnField& field : kOwnFields) {
      const u64 bits = sample(rng, field.kind);
      std::memcpy(data.data() + thread * kOwnBytes + field.offset, &bits, bytes_of(field.kind));
    }
  }
  return data;
}

}  // namespace kbench::ptx::random
