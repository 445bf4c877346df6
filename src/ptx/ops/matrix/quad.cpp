// SPDX-License-Identifier: MIT
#include "ptx/machine/lanes.hpp"
#include "ptx/ops/matrix/core.hpp"

// mma.m8n8k4 on f16, the form of the first tensor cores. Each quad of lanes multiplies separate
// matrices, together with the quad 16 lanes above.
namespace kbench::ptx::matrix {
namespace {

constexpr std::uint16_t kRowA = 1, kRowB = 2;

/// Lanes of one multiplication: a quad, and the quad 16 lanes above.
struct Quads {
  unsigned first;
  unsigned lane(unsigned i) const { return first + i % 4 + (i < 4 ? 0 : 16); }
};

float element(const Context& c, const Word* registers, unsigned lane, unsigned index) {
  const Word word = c.source<Word>(registers[index / 2])[lane];
  return to_float(Half{static_cast<std::uint16_t>(word >> (16 * (index % 2)))});
}

struct Matrices {
  float a[8][4], b[4][8];
  float c[8][8];
};

/// Lane and register index of an accumulator.
struct Owner {
  unsigned lane, index;
};

Owner owner(Quads quads, bool half_type, unsigned row, unsigned column) {
  if (half_type) return {quads.lane(row), column};
  const unsigned r = row % 4;
  const unsigned lane = (r & 1U) | (column & 2U), index = (column & 4U) | (r & 2U) | (column & 1U);
  return {quads.lane(lane + (row < 4 ? 0 : 4)), index};
}

void take_matrices(const Context& c, const Instr& in, Quads quads, Matrices& m) {
  const Geometry g = geometry_of(in);
  for (unsigned i = 0; i < 8; ++i) {
    for (unsigned k = 0; k < 4; ++k) {
      const bool row_a = (in.flags & kRowA) != 0, row_b = (in.flags & kRowB) != 0;
      const unsigned high = i < 4 ? 0 : 4;
      m.a[i][k] = row_a ? element(c, in.list + g.a, quads.lane(i), k)
                        : element(c, in.list + g.a, quads.lane(k + high), i % 4);
      m.b[k][i] = row_b ? element(c, in.list + g.b, quads.lane(k + high), i % 4)
                        : element(c, in.list + g.b, quads.lane(i), k);
    }
    for (unsigned j = 0; j < 8; ++j) {
      const bool half_type = (g.flags & kHalfC) != 0;
      const Owner from = owner(quads, half_type, i, j);
      m.c[i][j] = half_type ? element(c, in.list + g.c, from.lane, from.index)
                            : c.source<float>(in.list[g.c + from.index])[from.lane];
    }
  }
}

void put_result(Context& c, const Instr& in, Quads quads, const Accumulators& d) {
  const bool half_type = (geometry_of(in).flags & kHalfD) != 0;
  for (unsigned i = 0; i < 8; ++i) {
    for (unsigned j = 0; j < 8; ++j) {
      const Owner to = owner(quads, half_type, i, j);
      if (half_type) {
        auto* halves = c.target<std::uint16_t>(in.list[to.index / 2]);
        halves[2 * to.lane + to.index % 2] = static_cast<std::uint16_t>(d.at[j][i]);
      } else {
        c.target<Word>(in.list[to.index])[to.lane] = d.at[j][i];
      }
    }
  }
}

/// Hopper has no such instruction. Its compiler emits FMAs, in an order that depends on the type of
/// d. Products of f16 are exact in f32.
float sum_of(const Matrices& m, bool half_type, unsigned i, unsigned j) {
  const auto product = [&](unsigned k) { return m.a[i][k] * m.b[k][j]; };
  if (half_type) {
    const float last = product(2) + product(3), first = product(0) + product(1);
    return (m.c[i][j] + last) + first;
  }
  float sum = 0;
  for (unsigned k = 0; k < 4; ++k) sum += product(k);
  return sum + m.c[i][j];
}

void multiply(const Matrices& m, bool half_type, Accumulators& d) {
  for (unsigned i = 0; i < 8; ++i) {
    for (unsigned j = 0; j < 8; ++j) {
      const float sum = sum_of(m, half_type, i, j);
      const Word bits = sum != sum ? 0x7fffffffU : std::bit_cast<Word>(sum);
      d.at[j][i] = half_type ? to_half(sum).bits : bits;
    }
  }
}

void multiply_quads(Context& c, const Instr& in) {
  if (!converge_warp(c, in)) return;
  Accumulators d[4];
  for (unsigned quad = 0; quad < 4; ++quad) {
    Matrices matrices;
    take_matrices(c, in, {4 * quad}, matrices);
    multiply(matrices, (geometry_of(in).flags & kHalfD) != 0, d[quad]);
  }
  for (unsigned quad = 0; quad < 4; ++quad) put_result(c, in, {4 * quad}, d[quad]);
}

}  // namespace

void decode_quad_mma(Decode& d, const Modifiers& modifiers) {
  const auto& t = modifiers.types;
  const auto accumulates = [](const std::string& type) { return type == "f16" || type == "f32"; };
  if (t[2] != "f16" || !accumulates(t[0]) || !accumulates(t[3])) {
    d.reject("this combination of types does not exist");
  }
  if (modifiers.layouts.size() != 2) d.reject("two layouts are expected");
  d.expect_operands(4, 4);
  Geometry g;
  g.halves = 1;
  std::vector<std::uint32_t> list;
  const auto count = [](const std::string& type) { return std::size_t{type == "f16" ? 4U : 8U}; };
  take_registers(d, d.operand(0), count(t[0]), Type::kB32, list, true);
  g.a = static_cast<std::uint8_t>(list.size());
  take_registers(d, d.operand(1), 2, Type::kB32, list, false);
  g.b = static_cast<std::uint8_t>(list.size());
  take_registers(d, d.operand(2), 2, Type::kB32, list, false);
  g.c = static_cast<std::uint8_t>(list.size());
  take_registers(d, d.operand(3), count(t[3]), Type::kB32, list, false);
  if (t[3] == "f16") g.flags |= kHalfC;
  if (t[0] == "f16") g.flags |= kHalfD;
  if (modifiers.layouts[0] == "row") d.out.flags |= kRowA;
  if (modifiers.layouts[1] == "row") d.out.flags |= kRowB;
  d.out.list = d.keep(list);
  d.out.imm = std::bit_cast<std::int64_t>(g);
  d.control(&multiply_quads);
}

}  // namespace kbench::ptx::matrix
