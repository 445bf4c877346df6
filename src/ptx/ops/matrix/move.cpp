// SPDX-License-Identifier: MIT
#include <cstring>

#include "ptx/memory/access.hpp"
#include "ptx/ops/matrix/matrix.hpp"

// ldmatrix, stmatrix, movmatrix: matrices of 8 by 8 elements of 16 bits. Each address points to a
// row.
namespace kbench::ptx::matrix {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;

struct Tile {
  u16 at[8][8];
};

/// Packs the tile into a fragment's register. `transposed`: columns become rows.
void to_register(const Tile& tile, bool transposed, u32* lanes) {
  for (std::size_t g = 0; g < 8; ++g) {
    for (std::size_t t = 0; t < 4; ++t) {
      const u32 low = transposed ? tile.at[2 * t][g] : tile.at[g][2 * t];
      const u32 high = transposed ? tile.at[2 * t + 1][g] : tile.at[g][2 * t + 1];
      lanes[4 * g + t] = low | (high << 16);
    }
  }
}

void from_register(const u32* lanes, bool transposed, Tile& tile) {
  for (std::size_t g = 0; g < 8; ++g) {
    for (std::size_t t = 0; t < 4; ++t) {
      const auto low = static_cast<u16>(lanes[4 * g + t]);
      const auto high = static_cast<u16>(lanes[4 * g + t] >> 16);
      (transposed ? tile.at[2 * t][g] : tile.at[g][2 * t]) = low;
      (transposed ? tile.at[2 * t + 1][g] : tile.at[g][2 * t + 1]) = high;
    }
  }
}

/// in.aux: number of matrices; in.list: their registers.
template <bool transposed>
void load_matrices(Context& c, const Instr& in) {
  if (!converge_warp(c, in)) return;
  Addresses at;
  addresses(c, in, at);
  Tile tiles[4];
  for (unsigned i = 0; i < 8U * in.aux; ++i) {
    const std::byte* row = resolve(c, in, i, space_of(in), at[i], 16, Access::kRead);
    if (row == nullptr) return;
    std::memcpy(tiles[i / 8].at[i % 8], row, 16);
  }
  for (unsigned m = 0; m < in.aux; ++m) {
    to_register(tiles[m], transposed, c.target<u32>(in.list[m]));
  }
}

template <bool transposed>
void store_matrices(Context& c, const Instr& in) {
  if (!converge_warp(c, in)) return;
  Addresses at;
  addresses(c, in, at);
  for (unsigned m = 0; m < in.aux; ++m) {
    Tile tile;
    from_register(c.source<u32>(in.list[m]), transposed, tile);
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned lane = 8 * m + i;
      std::byte* row = resolve(c, in, lane, space_of(in), at[lane], 16, Access::kWrite);
      if (row == nullptr) return;
      std::memcpy(row, tile.at[i], 16);
    }
  }
}

void transpose(Context& c, const Instr& in) {
  if (!converge_warp(c, in)) return;
  Tile tile;
  from_register(c.source<u32>(in.s[0]), false, tile);
  to_register(tile, true, c.target<u32>(in.d));
}

/// Decodes modifiers, address and registers of ldmatrix and stmatrix.
void decode_access(Decode& d, bool store, Execute plain, Execute transposed) {
  if (!d.flag("sync")) d.reject("the modifier .sync is missing");
  if (!d.flag("aligned")) d.reject("the modifier .aligned is missing");
  if (!d.flag("m8n8")) d.reject("only the shape .m8n8 is supported");
  unsigned count = 0;
  if (d.flag("x1")) count = 1;
  if (d.flag("x2")) count = 2;
  if (d.flag("x4")) count = 4;
  if (count == 0) d.reject("one of .x1, .x2, .x4 is missing");
  const bool trans = d.flag("trans");
  const Space space = take_space(d);
  if (space != Space::kShared && space != Space::kGeneric) d.reject("the space is not .shared");
  if (d.type() != Type::kB16) d.reject("the type is not .b16");
  d.expect_operands(2, 2);
  decode_address(d, d.operand(store ? 0 : 1), space);
  std::vector<u32> list;
  take_registers(d, d.operand(store ? 1 : 0), count, Type::kB32, list, !store);
  d.out.list = d.keep(list);
  d.out.aux = static_cast<std::uint8_t>(count);
  d.control(trans ? transposed : plain);
}

}  // namespace

void decode_ldmatrix(Decode& d) {
  decode_access(d, false, &load_matrices<false>, &load_matrices<true>);
}

void decode_stmatrix(Decode& d) {
  decode_access(d, true, &store_matrices<false>, &store_matrices<true>);
}

void decode_movmatrix(Decode& d) {
  for (const std::string_view form : {"sync", "aligned", "m8n8", "trans"}) {
    if (!d.flag(form)) d.reject("this form is not supported");
  }
  if (d.type() != Type::kB16) d.reject("the type is not .b16");
  d.plain_operands(Type::kB32, {Type::kB32});
  d.control(&transpose);
}

}  // namespace kbench::ptx::matrix
