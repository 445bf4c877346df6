// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace kbench::ptx {

/// PTX's fundamental and packed types.
enum class Type : std::uint8_t {
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF16x2,
  kBf16,
  kBf16x2,
  kTf32,
  kF32,
  kF64,
  kE4m3x2,
  kE5m2x2,
  kU16x2,
  kS16x2,
  kPred,
};

/// "f32" → kF32; none if the name is not a type.
std::optional<Type> parse_type(std::string_view name);

/// Bytes of one value; 4 for predicates, which are stored as a mask of the warp's lanes.
unsigned size_bytes(Type type);

constexpr bool is_signed(Type type) { return type >= Type::kS8 && type <= Type::kS64; }
constexpr bool is_float(Type type) { return type >= Type::kF16 && type <= Type::kE5m2x2; }

}  // namespace kbench::ptx
