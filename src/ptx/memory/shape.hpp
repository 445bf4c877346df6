// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "ptx/machine/machine.hpp"

/// The pattern of the addresses of a warp's lanes, so that one check and one loop handle all lanes.
namespace kbench::ptx {

struct Shape {
  enum class Kind : std::uint8_t {
    kLinear,     ///< first + lane * stride, for a range of lanes; stride 0: uniform
    kGroups,     ///< all lanes; linear in each group of 8
    kScattered,  ///< offsets from the lowest address
    kFar,        ///< over 2 GiB apart: lane by lane
  };
  std::uint32_t mask = 0;  ///< lanes that the shape describes; 0: not computed
  Kind kind = Kind::kFar;
  std::uint32_t stride = 0;
  std::uint32_t mixed = 0;  ///< low bits in which lanes may differ
  std::uint32_t span = 0;   ///< highest minus lowest address
  std::uint64_t lowest = 0;
  std::byte* host = nullptr;  ///< host address of the lowest, for the running instruction
  /// Offsets from the lowest address; 0 for lanes outside the mask. Unset if span is 0.
  alignas(64) std::array<std::uint32_t, kLanes> offset;

  std::uint32_t offset_of(unsigned lane) const { return span == 0 ? 0 : offset[lane]; }
};

constexpr unsigned kGroup = 8;
constexpr std::uint32_t kMaxStride = 1U << 20;

namespace shapes {

/// Tests if lanes [begin, begin + count) are at base[begin] + i * stride; if so, fills `shape`.
template <class W>
bool linear(const W* base, unsigned begin, unsigned count, Shape& shape) {
  const W first = base[begin];
  const W step = count > 1 ? static_cast<W>(base[begin + 1] - first) : W{0};
  if (step > kMaxStride) return false;
  const auto narrow = static_cast<std::uint32_t>(step);
  W bad = 0;
  if (count == kLanes) {
    for (unsigned i = 0; i < kLanes; ++i) bad |= base[i] ^ static_cast<W>(first + i * narrow);
  } else {
    for (unsigned i = 0; i < count; ++i) {
      bad |= base[begin + i] ^ static_cast<W>(first + i * narrow);
    }
  }
  const W last = static_cast<W>(first + (count - 1) * narrow);
  if (bad != 0 || last < first) return false;
  if (narrow != 0) {
    for (unsigned i = 0; i < kLanes; ++i) {
      shape.offset[i] = i - begin < count ? (i - begin) * narrow : 0;
    }
  }
  shape.kind = Shape::Kind::kLinear;
  shape.stride = shape.mixed = narrow;
  shape.span = static_cast<std::uint32_t>(last - first);
  shape.lowest = first;
  return true;
}

template <class W>
bool in_groups(const W* base, std::uint32_t& stride) {
  const W step = static_cast<W>(base[1] - base[0]);
  if (step > kMaxStride) return false;
  stride = static_cast<std::uint32_t>(step);
  W bad = 0;
  for (unsigned g = 0; g < kLanes; g += kGroup) {
    for (unsigned i = 0; i < kGroup; ++i) {
      bad |= base[g + i] ^ static_cast<W>(base[g] + i * stride);
    }
  }
  return bad == 0;
}

template <class W>
void scattered(const W* base, std::uint32_t mask, Shape& shape) {
  const W first = base[static_cast<unsigned>(std::countr_zero(mask))];
  alignas(64) std::array<W, kLanes> at;
  W low = first, high = first, mixed = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    at[i] = ((mask >> i) & 1U) != 0 ? base[i] : first;
    low = std::min(low, at[i]);
    high = std::max(high, at[i]);
    mixed |= at[i] ^ first;
  }
  if (high - low > 0x7fffff00U) {
    shape.kind = Shape::Kind::kFar;
    return;
  }
  for (unsigned i = 0; i < kLanes; ++i) {
    const auto offset = static_cast<std::uint32_t>(at[i] - low);
    shape.offset[i] = ((mask >> i) & 1U) != 0 ? offset : 0;
  }
  shape.lowest = low;
  shape.span = static_cast<std::uint32_t>(high - low);
  shape.mixed = static_cast<std::uint32_t>(mixed);
  shape.kind = mask == kAllLanes && in_groups(base, shape.stride) ? Shape::Kind::kGroups
                                                                  : Shape::Kind::kScattered;
}

}  // namespace shapes

/// Computes the shape of the addresses of the lanes of `mask`, which is not empty. W: width of the
/// address register.
template <class W>
void find_shape(const W* base, std::uint32_t mask, Shape& shape) {
  shape.mask = mask;
  if (mask == kAllLanes) {
    if (shapes::linear(base, 0, kLanes, shape)) return;
  } else {
    const auto begin = static_cast<unsigned>(std::countr_zero(mask));
    const auto count = static_cast<unsigned>(std::countr_one(mask >> begin));
    if (begin + count == 32 || mask >> (begin + count) == 0) {
      if (shapes::linear(base, begin, count, shape)) return;
    }
  }
  shapes::scattered(base, mask, shape);
}

}  // namespace kbench::ptx
