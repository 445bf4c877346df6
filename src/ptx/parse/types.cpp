// SPDX-License-Identifier: MIT
#include "ptx/parse/types.hpp"

#include <array>

namespace kbench::ptx {
namespace {

struct TypeRow {
  std::string_view name;
  Type type;
  unsigned bytes;
};

constexpr std::array kTypes{
    TypeRow{"b8", Type::kB8, 1},         TypeRow{"b16", Type::kB16, 2},
    TypeRow{"b32", Type::kB32, 4},       TypeRow{"b64", Type::kB64, 8},
    TypeRow{"b128", Type::kB128, 16},    TypeRow{"u8", Type::kU8, 1},
    TypeRow{"u16", Type::kU16, 2},       TypeRow{"u32", Type::kU32, 4},
    TypeRow{"u64", Type::kU64, 8},       TypeRow{"s8", Type::kS8, 1},
    TypeRow{"s16", Type::kS16, 2},       TypeRow{"s32", Type::kS32, 4},
    TypeRow{"s64", Type::kS64, 8},       TypeRow{"f16", Type::kF16, 2},
    TypeRow{"f16x2", Type::kF16x2, 4},   TypeRow{"bf16", Type::kBf16, 2},
    TypeRow{"bf16x2", Type::kBf16x2, 4}, TypeRow{"tf32", Type::kTf32, 4},
    TypeRow{"f32", Type::kF32, 4},       TypeRow{"f64", Type::kF64, 8},
    TypeRow{"e4m3x2", Type::kE4m3x2, 2}, TypeRow{"e5m2x2", Type::kE5m2x2, 2},
    TypeRow{"u16x2", Type::kU16x2, 4},   TypeRow{"s16x2", Type::kS16x2, 4},
    TypeRow{"pred", Type::kPred, 4},
};

}  // namespace

std::optional<Type> parse_type(std::string_view name) {
  for (const TypeRow& row : kTypes) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

unsigned size_bytes(Type type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.bytes;
  }
  return 0;
}

}  // namespace kbench::ptx
