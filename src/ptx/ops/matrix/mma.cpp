// SPDX-License-Identifier: MIT
#include "ptx/ops/matrix/bytes.hpp"
#include "ptx/ops/matrix/multiply.hpp"

// mma and the multiplication of wmma. Both are d = a·b + c on fragments in registers.
namespace kbench::ptx::matrix {
namespace {

constexpr unsigned kMostBlocks = 4;

template <class Arithmetic>
struct Multiply {
  static void run(Context& c, const Instr& in) {
    if (!converge_warp(c, in)) return;
    const Geometry g = geometry_of(in);
    // A register of d may also belong to a or b, so all reads come before any write.
    Accumulators d[kMostBlocks];
    for (unsigned row = 0; row < g.row_blocks; ++row) {
      typename Arithmetic::Side a, b;
      expand_rows(c, in, g, row, a);
      for (unsigned column = 0; column < g.column_blocks; ++column) {
        expand_columns(c, in, g, column, b);
        const unsigned block = row * g.column_blocks + column;
        Accumulators accumulators;
        const bool half_type = (g.flags & kHalfC) != 0;
        gather_accumulators(c, in.list + g.c + std::size_t{block} * step(g, half_type), g.halves,
                            half_type, accumulators);
        Arithmetic::multiply(a, b, g, kFractionBits, accumulators, d[block]);
      }
    }
    const bool half_type = (g.flags & kHalfD) != 0;
    for (unsigned block = 0; block < unsigned{g.row_blocks} * g.column_blocks; ++block) {
      scatter_accumulators(c, in.list + std::size_t{block} * step(g, half_type), g.halves,
                           half_type, d[block]);
    }
  }

 private:
  /// Number of registers of a block of accumulators.
  static unsigned step(const Geometry& g, bool half_type) {
    return half_type ? g.halves : 2U * g.halves;
  }

  static void expand_rows(const Context& c, const Instr& in, const Geometry& g, unsigned block,
                          typename Arithmetic::Side& side) {
    RowWords words;
    const Word* registers = in.list + g.a + std::size_t{block} * g.halves * g.k_blocks;
    for (unsigned k = 0; k < g.k_blocks; ++k) {
      for (unsigned half = 0; half < g.halves; ++half) {
        gather_rows(c.source<Word>(registers[k * g.halves + half]), words.at[k], half);
      }
      if (g.halves == 2) continue;
      for (auto& row : words.at[k]) std::fill(row + 8, row + kRows, 0U);
    }
    Arithmetic::expand(&words.at[0][0][0], 4 * kRows, g.k_blocks, (g.flags & kOtherA) != 0, side);
  }

  static void expand_columns(const Context& c, const Instr& in, const Geometry& g, unsigned block,
                             typename Arithmetic::Side& side) {
    ColumnWords words;
    const Word* registers = in.list + g.b + std::size_t{block} * g.k_blocks;
    for (unsigned k = 0; k < g.k_blocks; ++k) {
      const Word* lanes = c.source<Word>(registers[k]);
      std::copy(lanes, lanes + kLanes, words.at[k]);
    }
    Arithmetic::expand(&words.at[0][0], kLanes, g.k_blocks, (g.flags & kOtherB) != 0, side);
  }
};

/// f64: one rounding for each product added, in the order of k.
struct MultiplyDouble {
  static void run(Context& c, const Instr& in) {
    if (!converge_warp(c, in)) return;
    const Geometry g = geometry_of(in);
    alignas(64) double d[kColumns][kRows];
    for (unsigned half = 0; half < g.halves; ++half) {
      for (unsigned h = 0; h < 2; ++h) {
        const auto* lanes = c.source<double>(in.list[g.c + 2 * half + h]);
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          d[2 * (lane % 4) + h][8 * half + lane / 4] = lanes[lane];
        }
      }
    }
    for (unsigned k = 0; k < g.k_blocks; ++k) add_products(c, in, g, k, d);
    for (unsigned half = 0; half < g.halves; ++half) {
      for (unsigned h = 0; h < 2; ++h) {
        auto* lanes = c.target<double>(in.list[2 * half + h]);
        for (unsigned lane = 0; lane < kLanes; ++lane) {
          lanes[lane] = d[2 * (lane % 4) + h][8 * half + lane / 4];
        }
      }
    }
  }

 private:
  static void add_products(const Context& c, const Instr& in, const Geometry& g, unsigned k,
                           double (*d)[kRows]) {
    alignas(64) double a[4][kRows] = {};
    for (unsigned half = 0; half < g.halves; ++half) {
      const auto* lanes = c.source<double>(in.list[g.a + k * g.halves + half]);
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        a[lane % 4][8 * half + lane / 4] = lanes[lane];
      }
    }
    const auto* b = c.source<double>(in.list[g.b + k]);
    for (unsigned j = 0; j < kColumns; ++j) {
      for (unsigned t = 0; t < 4; ++t) {
        const double factor = b[4 * j + t];
        for (unsigned i = 0; i < 8U * g.halves; ++i) d[j][i] = std::fma(a[t][i], factor, d[j][i]);
      }
    }
  }
};

struct Types {
  std::string d, a, b, c;
};

/// `turned`: a and b are swapped.
void take_operands(Decode& d, const Types& types, Geometry& g, bool wmma, bool turned) {
  d.expect_operands(4, 4);
  const Element element = element_of(d, types.a);
  const unsigned blocks = unsigned{g.row_blocks} * g.column_blocks;
  const auto accumulators = [&](const std::string& type) {
    return std::size_t{blocks} * g.halves * (type == "f16" ? 1 : 2);
  };
  const Type multiplied = element == Element::kF64 ? Type::kF64 : Type::kB32;
  std::vector<std::uint32_t> list;
  take_registers(d, d.operand(0), accumulators(types.d), multiplied, list, true);
  // wmma on f16 has eight registers in any shape; superfluous ones repeat the others.
  const bool eight = wmma && element == Element::kF16;
  const unsigned rows = unsigned{g.row_blocks} * g.halves * g.k_blocks;
  const unsigned columns = unsigned{g.column_blocks} * g.k_blocks;
  (turned ? g.b : g.a) = static_cast<std::uint8_t>(list.size());
  take_registers(d, d.operand(1), eight ? 8 : (turned ? columns : rows), multiplied, list, false);
  (turned ? g.a : g.b) = static_cast<std::uint8_t>(list.size());
  take_registers(d, d.operand(2), eight ? 8 : (turned ? rows : columns), multiplied, list, false);
  g.c = static_cast<std::uint8_t>(list.size());
  take_registers(d, d.operand(3), accumulators(types.c), multiplied, list, false);
  d.out.list = d.keep(list);
}

/// Checks the accumulator types for the element type.
void check_types(Decode& d, const Types& types, bool wmma) {
  const Element a = element_of(d, types.a), b = element_of(d, types.b);
  const auto rejects = [&] { d.reject("this combination of types does not exist"); };
  const auto is = [](const std::string& type, std::initializer_list<std::string_view> names) {
    return std::ranges::find(names, type) != names.end();
  };
  if (is_integer(a) || a == Element::kB1) {
    if (bits_of(a) != bits_of(b) || types.c != "s32" || types.d != "s32") rejects();
  } else if (bits_of(a) == 8) {
    if (bits_of(b) != 8 || is_integer(b)) rejects();
    if (!is(types.d, {"f16", "f32"}) || types.c != types.d) rejects();
  } else if (a != b) {
    rejects();
  } else if (a == Element::kF16) {
    if (!is(types.d, {"f16", "f32"}) || !is(types.c, {"f16", "f32"})) rejects();
    if (!wmma && types.c != types.d) rejects();
  } else {
    const std::string_view sum = a == Element::kF64 ? "f64" : "f32";
    if (types.c != sum || types.d != sum) rejects();
  }
}

template <unsigned bytes>
using OnFloatBytes = Multiply<FloatBytes<bytes>>;

/// Chooses the arithmetic by element type.
void choose(Decode& d, Element element) {
  switch (element) {
    case Element::kE4m3:
    case Element::kE5m2:
      return d.control(pick_by_width<OnFloatBytes>());
    case Element::kS4:
    case Element::kU4:
      return d.control(pick_by_width<OnIntegers<Multiply, Element::kS4>::Body>());
    case Element::kF64:
      return d.control(pick<MultiplyDouble>());
    default:
      choose_multiply<Multiply>(d, element);
  }
}

/// Fills d.out by shape and types; takes modifiers that only some element types have.
void decode_multiply(Decode& d, const Modifiers& modifiers, const Types& types, bool wmma) {
  check_types(d, types, wmma);
  const Element element = element_of(d, types.a);
  if (!multiplies(modifiers.shape, element, wmma)) d.reject("this shape is not supported");
  const bool turned = is_turned(modifiers.shape);
  Geometry g = geometry(turned ? turn(modifiers.shape) : modifiers.shape, element);
  if (types.c == "f16") g.flags |= kHalfC;
  if (types.d == "f16") g.flags |= kHalfD;
  if (is_other(types.a)) g.flags |= turned ? kOtherB : kOtherA;
  if (is_other(types.b)) g.flags |= turned ? kOtherA : kOtherB;
  if (is_integer(element) && d.flag("satfinite")) g.flags |= kSaturate;
  if (element == Element::kF64) d.flag("rn");
  if (element == Element::kB1) {
    if (!d.flag("popc")) d.reject("the modifier .popc is missing");
    if (d.flag("and")) {
      g.flags |= kAnd;
    } else if (!d.flag("xor")) {
      d.reject("one of .and, .xor is missing");
    }
  }
  take_operands(d, types, g, wmma, turned);
  d.out.imm = std::bit_cast<std::int64_t>(g);
  choose(d, element);
}

}  // namespace

void decode_mma(Decode& d) {
  for (const std::string_view sparse : {"sp", "sp::ordered_metadata"}) {
    if (d.flag(sparse)) d.reject("sparse matrices are not supported");
  }
  const Modifiers modifiers = take_modifiers(d);
  if (modifiers.types.size() != 4) d.reject("four types are expected");
  const auto& t = modifiers.types;
  if (modifiers.shape == Shape{8, 8, 4} && t[1] == "f16") return decode_quad_mma(d, modifiers);
  if (modifiers.layouts != std::vector<std::string>{"row", "col"}) {
    d.reject("the layouts are not .row.col");
  }
  decode_multiply(d, modifiers, {t[0], t[1], t[2], t[3]}, false);
}

void decode_wmma_multiply(Decode& d) {
  const Modifiers modifiers = take_modifiers(d);
  if (modifiers.layouts.size() != 2) d.reject("two layouts are expected");
  const auto& t = modifiers.types;
  if (t.size() == 2) return decode_multiply(d, modifiers, {t[0], "f16", "f16", t[1]}, true);
  if (t.size() != 4) d.reject("two or four types are expected");
  decode_multiply(d, modifiers, {t[0], t[1], t[2], t[3]}, true);
}

}  // namespace kbench::ptx::matrix
