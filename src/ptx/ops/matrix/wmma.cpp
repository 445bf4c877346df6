// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <limits>

#include "ptx/memory/access.hpp"
#include "ptx/ops/matrix/matrix.hpp"

// wmma.load and wmma.store: move fragments between registers and matrices in memory, with a stride
// between lines. Fragments have the layout of mma, because some code relies on that.
namespace kbench::ptx::matrix {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// Header of Instr::list. The registers follow, then for each lane of each register the offsets of
/// its pieces in the packed matrix.
struct Plan {
  u32 registers, lines, line_bytes, bits;
};
constexpr unsigned kPlanWords = sizeof(Plan) / sizeof(u32);
constexpr unsigned kMostBytes = 1024;
constexpr u64 kMostChunk = 64;

enum class Way : std::uint8_t { kLoad, kStore };

/// Copies between the matrix in memory and its packed lines; false after a fault.
template <Way way>
bool copy_lines(Context& c, const Instr& in, const Plan& plan, std::byte* packed) {
  constexpr Access kAccess = way == Way::kLoad ? Access::kRead : Access::kWrite;
  Addresses at;
  addresses(c, in, at);
  const u64 stride = u64{c.source<u32>(in.s[1])[0]} * plan.bits / 8;
  for (u32 line = 0; line < plan.lines; ++line) {
    const u64 begin = at[0] + line * stride;
    const u64 alignment = begin | plan.line_bytes | kMostChunk;
    const u64 chunk = alignment & (0 - alignment);
    for (u64 k = 0; k < plan.line_bytes; k += chunk) {
      std::byte* memory = resolve(c, in, 0, space_of(in), begin + k, chunk, kAccess);
      if (memory == nullptr) return false;
      std::byte* own = packed + std::size_t{line} * plan.line_bytes + k;
      std::memcpy(way == Way::kLoad ? own : memory, way == Way::kLoad ? memory : own, chunk);
    }
  }
  return true;
}

/// Register: a lane's value in one register. Piece: the part of it that is contiguous in memory.
template <Way way, class Register, class Piece>
void transfer(Context& c, const Instr& in) {
  if (!converge_warp(c, in)) return;
  Plan plan;
  std::memcpy(&plan, in.list, sizeof(plan));
  alignas(64) std::byte packed[kMostBytes];
  if (way == Way::kLoad && !copy_lines<way>(c, in, plan, packed)) return;
  const u32* registers = in.list + kPlanWords;
  const u32* offset = registers + plan.registers;
  constexpr unsigned kPieces =
      std::numeric_limits<Register>::digits / std::numeric_limits<Piece>::digits;
  for (u32 r = 0; r < plan.registers; ++r) {
    for (unsigned i = 0; i < kLanes * kPieces; ++i) {
      std::byte* piece = packed + *offset++;
      if constexpr (way == Way::kLoad) {
        std::memcpy(c.target<Piece>(registers[r]) + i, piece, sizeof(Piece));
      } else {
        std::memcpy(piece, c.source<Piece>(registers[r]) + i, sizeof(Piece));
      }
    }
  }
  if (way == Way::kStore) copy_lines<way>(c, in, plan, packed);
}

/// The matrix that a fragment belongs to, and its type in memory.
struct Fragment {
  char operand = 'a';  ///< a, b, c or d
  std::string type;
  Shape shape;
  bool row_major = true;
  unsigned bits = 16;
};

/// Position of an element of a fragment: x is the line along the dimension other than k, y the
/// position along k. For accumulators, x is the row and y the column. `index` counts the registers.
struct Place {
  unsigned x, y;
};

Place place(const Fragment& f, const Geometry& g, unsigned per_word, unsigned index,
            unsigned lane) {
  const unsigned row = lane / 4, t = lane % 4;
  if (f.operand == 'b') {
    return {8 * (index / g.k_blocks) + row, per_word * (4 * (index % g.k_blocks) + t)};
  }
  const unsigned columns = f.operand == 'a' || f.type == "f16" ? 1 : 2;  // registers per row
  const unsigned of_column = index % columns;
  index /= columns;
  const unsigned half = index % g.halves;
  index /= g.halves;
  const unsigned along = f.operand == 'a' ? g.k_blocks : g.column_blocks;
  const unsigned x = 16 * (index / along) + 8 * half + row;
  const unsigned block = index % along;
  if (f.operand == 'a') return {x, per_word * (4 * block + t)};
  return {x, 8 * block + 2 * t + of_column};
}

unsigned register_count(const Fragment& f, const Geometry& g) {
  if (f.operand == 'a') return unsigned{g.row_blocks} * g.halves * g.k_blocks;
  if (f.operand == 'b') return unsigned{g.column_blocks} * g.k_blocks;
  const unsigned blocks = unsigned{g.row_blocks} * g.halves * g.column_blocks;
  return f.type == "f16" ? blocks : 2 * blocks;
}

/// Elements in a 32-bit word of a fragment.
unsigned per_word(const Fragment& f) { return f.bits >= 32 ? 1 : 32 / f.bits; }

/// True if the matrix's lines in memory are along y, as words are.
bool lines_along_words(const Fragment& f) { return (f.operand == 'b') != f.row_major; }

void fill_plan(const Fragment& f, const Geometry& g, unsigned used, std::vector<u32>& list) {
  const bool along = lines_along_words(f);
  const unsigned xs = f.operand == 'b' ? f.shape.n : f.shape.m;
  const unsigned ys = f.operand == 'a' || f.operand == 'b' ? f.shape.k : f.shape.n;
  const unsigned line_bytes = (along ? ys : xs) * f.bits / 8;
  const auto registers = static_cast<unsigned>(list.size());
  const Plan plan{registers, along ? xs : ys, line_bytes, f.bits};
  const unsigned pieces = along ? 1 : per_word(f);
  for (unsigned r = 0; r < registers; ++r) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const Place at = place(f, g, per_word(f), r % used, lane);
      for (unsigned p = 0; p < pieces; ++p) {
        const unsigned line = along ? at.x : at.y + p, position = along ? at.y : at.x;
        list.push_back(line * line_bytes + position * f.bits / 8);
      }
    }
  }
  std::array<u32, kPlanWords> header{};
  std::memcpy(header.data(), &plan, sizeof(plan));
  list.insert(list.begin(), header.begin(), header.end());
}

template <Way way>
Execute choose(const Fragment& f) {
  if (f.bits == 64) return &transfer<way, u64, u64>;
  if (lines_along_words(f) || f.bits == 32) return &transfer<way, u32, u32>;
  if (f.bits == 16) return &transfer<way, u32, std::uint16_t>;
  return &transfer<way, u32, std::uint8_t>;
}

/// True if an element type exists for accumulators of this shape and type.
bool accumulates(const Shape& shape, std::string_view type) {
  const auto any = [&](std::initializer_list<Element> elements) {
    return std::ranges::any_of(elements, [&](Element e) { return multiplies(shape, e, true); });
  };
  if (type == "f16") return any({Element::kF16});
  if (type == "f32") return any({Element::kF16, Element::kBf16, Element::kTf32});
  if (type == "s32") return any({Element::kS8, Element::kS4, Element::kB1});
  return type == "f64" && any({Element::kF64});
}

/// Turns the fragment into that of the transposed product.
void turn_fragment(Fragment& f) {
  f.shape = turn(f.shape);
  f.row_major = !f.row_major;
  if (f.operand == 'a' || f.operand == 'b') f.operand = f.operand == 'a' ? 'b' : 'a';
}

Fragment take_fragment(Decode& d, bool store) {
  Fragment f;
  const auto operand = store ? d.one_of({"d"}) : d.one_of({"a", "b", "c"});
  if (!operand) d.reject("the operand .a, .b, .c or .d is missing");
  f.operand = (*operand)[0];
  const Modifiers modifiers = take_modifiers(d);
  if (modifiers.layouts.size() != 1) d.reject("one layout is expected");
  if (modifiers.types.size() != 1) d.reject("one type is expected");
  f.row_major = modifiers.layouts[0] == "row";
  f.type = modifiers.types[0];
  f.shape = modifiers.shape;
  const bool accumulator = f.operand == 'c' || f.operand == 'd';
  if (accumulator) {
    if (!accumulates(f.shape, f.type)) d.reject("this shape is not supported");
    f.bits = f.type == "f16" ? 16 : f.type == "f64" ? 64 : 32;
    return f;
  }
  const Element element = element_of(d, f.type);
  if (!multiplies(f.shape, element, true)) d.reject("this shape is not supported");
  f.bits = bits_of(element);
  if (f.bits < 8 && !lines_along_words(f)) {
    d.reject("elements smaller than a byte need .row for the operand a, .col for b");
  }
  return f;
}

void decode_transfer(Decode& d, bool store) {
  Fragment f = take_fragment(d, store);
  if (is_turned(f.shape)) turn_fragment(f);
  const Space space = take_space(d);
  if (space == Space::kLocal || space == Space::kConst || space == Space::kParam) {
    d.reject("the space is not supported");
  }
  d.expect_operands(2, 3);
  decode_address(d, d.operand(store ? 0 : 1), space);
  const bool accumulator = f.operand == 'c' || f.operand == 'd';
  const Element element = accumulator ? Element::kF16 : element_of(d, f.type);
  const Geometry g = geometry(f.shape, element);
  const unsigned used = register_count(f, g);
  const unsigned registers = element == Element::kF16 && !accumulator ? 8 : used;
  std::vector<u32> list;
  take_registers(d, d.operand(store ? 1 : 0), registers, f.bits == 64 ? Type::kB64 : Type::kB32,
                 list, !store);
  fill_plan(f, g, used, list);
  d.out.list = d.keep(list);
  Plan plan;
  std::memcpy(&plan, d.out.list, sizeof(plan));
  d.out.s[1] = d.operands() == 3 ? d.source(d.operand(2), Type::kU32)
                                 : d.constant(plan.line_bytes * 8 / plan.bits, 4);
  d.control(store ? choose<Way::kStore>(f) : choose<Way::kLoad>(f));
}

}  // namespace

void decode_wmma(Decode& d) {
  if (d.flag("load")) return decode_transfer(d, false);
  if (d.flag("store")) return decode_transfer(d, true);
  if (d.flag("mma")) return decode_wmma_multiply(d);
  d.reject("only wmma.load, wmma.store and wmma.mma are supported");
}

}  // namespace kbench::ptx::matrix
