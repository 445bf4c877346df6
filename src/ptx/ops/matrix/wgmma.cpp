// SPDX-License-Identifier: MIT
#include <cstring>

#include "ptx/memory/access.hpp"
#include "ptx/ops/matrix/multiply.hpp"

// wgmma: four warps multiply 64 rows of A (in shared memory or registers) by N columns of B in
// shared memory. Each warp computes its 16 rows as soon as it arrives, and its results are
// available at once, which PTX allows.
namespace kbench::ptx::matrix {
namespace {

using u64 = std::uint64_t;

/// Bits of Instr::flags.
constexpr std::uint16_t kTransA = 1, kTransB = 2, kNegateA = 4, kNegateB = 8, kRegistersA = 16;
constexpr std::uint16_t kScaleNegated = 32;

constexpr unsigned kChunk = 16;  ///< bytes that are contiguous in every layout

/// A matrix in shared memory, by its descriptor. A group of 8 rows (of the dimension other than k)
/// has 32 bytes along k. If transposed, 8 elements of that dimension are contiguous.
class SharedMatrix {
 public:
  explicit SharedMatrix(u64 descriptor)
      : start_((descriptor & 0x3fffU) << 4),
        leading_((descriptor >> 16 & 0x3fffU) << 4),
        stride_((descriptor >> 32 & 0x3fffU) << 4),
        mode_(static_cast<unsigned>(descriptor >> 62)),
        offset_(static_cast<unsigned>(descriptor >> 49 & 7U)) {}

  bool known() const { return offset_ == 0; }

  /// Address of 16 bytes of row x: the first or second chunk along k.
  u64 chunk(unsigned x, unsigned which) const {
    const u64 along = mode_ == 0 ? leading_ : kChunk;
    return swizzle(start_ + x % 8 * width() + x / 8 * stride_ + which * along);
  }

  /// Address of the 16-bit element at row x and position k of a transposed matrix.
  u64 element(unsigned x, unsigned k) const {
    const u64 unit = x / 8, per_line = width() / kChunk;
    const u64 next_unit = mode_ == 0 ? stride_ : leading_, next_k = mode_ == 0 ? leading_ : stride_;
    const u64 chunk = unit % per_line * kChunk + unit / per_line * next_unit;
    return swizzle(start_ + chunk + k % 8 * width() + k / 8 * next_k) + u64{x % 8} * 2;
  }

 private:
  /// Bytes from one row to the next: 16 without swizzling, else the swizzle width.
  u64 width() const { return mode_ == 0 ? kChunk : 256U >> mode_; }

  /// Permutes the chunks of 128-byte rows: XORs bits 7 and up into bits 4 and up.
  u64 swizzle(u64 address) const {
    const u64 mask = mode_ == 0 ? 0 : (8U >> (mode_ - 1)) - 1;
    return address ^ ((address >> 7 & mask) << 4);
  }

  u64 start_, leading_, stride_;
  unsigned mode_, offset_;
};

/// Loads words of 8 or 16 rows, starting at `first`: word(k block, t, row).
template <class F>
bool load_rows(Context& c, const Instr& in, const SharedMatrix& matrix, unsigned first,
               unsigned rows, F&& word) {
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned which = 0; which < kWordBlocks; ++which) {
      const std::byte* chunk = resolve(c, in, 0, Space::kShared, matrix.chunk(first + row, which),
                                       kChunk, Access::kRead);
      if (chunk == nullptr) return false;
      Word words[4];
      std::memcpy(words, chunk, kChunk);
      for (unsigned t = 0; t < 4; ++t) word(which, t, row) = words[t];
    }
  }
  return true;
}

/// Like load_rows(), for a transposed matrix of 16-bit elements: a chunk holds 8 rows at one k.
template <class F>
bool load_transposed(Context& c, const Instr& in, const SharedMatrix& matrix, unsigned first,
                     unsigned rows, F&& word) {
  for (unsigned eight = 0; eight < rows; eight += 8) {
    for (unsigned k = 0; k < 16; ++k) {
      const std::byte* chunk = resolve(c, in, 0, Space::kShared, matrix.element(first + eight, k),
                                       kChunk, Access::kRead);
      if (chunk == nullptr) return false;
      std::uint16_t elements[8];
      std::memcpy(elements, chunk, kChunk);
      for (unsigned row = 0; row < 8; ++row) {
        Word& target = word(k / 8, k % 8 / 2, eight + row);
        const Word element = elements[row];
        target = k % 2 == 0 ? element : target | element << 16;
      }
    }
  }
  return true;
}

template <class Arithmetic>
struct MultiplyShared {
  static void run(Context& c, const Instr& in) {
    if (!converge_warp(c, in)) return;
    const Geometry g = geometry_of(in);
    typename Arithmetic::Side a, b;
    if (!load_a(c, in, g, a)) return;
    const SharedMatrix matrix(c.source<u64>(in.s[1])[0]);
    if (!check(c, in, matrix)) return;
    const bool half_type = (g.flags & kHalfD) != 0;
    const unsigned step = half_type ? 2 : 4;
    const Word scale = c.predicate_source(in.s[2]) ^ ((in.flags & kScaleNegated) != 0 ? ~0U : 0U);
    for (unsigned block = 0; block < g.column_blocks; ++block) {
      if (!load_b(c, in, g, matrix, block, b)) return;
      Accumulators sums{}, d;
      const Word* registers = in.list + std::size_t{block} * step;
      if ((scale & 1U) != 0) gather_accumulators(c, registers, 2, half_type, sums);
      Arithmetic::multiply(a, b, g, in.aux, sums, d);
      scatter_accumulators(c, registers, 2, half_type, d);
    }
  }

 private:
  static bool check(Context& c, const Instr& in, const SharedMatrix& matrix) {
    if (matrix.known()) return true;
    raise(c, in, 0, FaultKind::kUnsupported,
          "uses a matrix descriptor with a base offset, which is not supported");
    return false;
  }

  static bool load_a(Context& c, const Instr& in, const Geometry& g,
                     typename Arithmetic::Side& side) {
    RowWords words;
    if ((in.flags & kRegistersA) != 0) {
      for (unsigned k = 0; k < kWordBlocks; ++k) {
        for (unsigned half = 0; half < 2; ++half) {
          gather_rows(c.source<Word>(in.list[g.a + 2 * k + half]), words.at[k], half);
        }
      }
    } else {
      const SharedMatrix matrix(c.source<u64>(in.s[0])[0]);
      const auto word = [&](unsigned k, unsigned t, unsigned row) -> Word& {
        return words.at[k][t][row];
      };
      const unsigned first = c.warp->index % 4 * kRows;
      const bool loaded =
          check(c, in, matrix) &&
          ((in.flags & kTransA) != 0 ? load_transposed(c, in, matrix, first, kRows, word)
                                     : load_rows(c, in, matrix, first, kRows, word));
      if (!loaded) return false;
    }
    negate(&words.at[0][0][0], sizeof(words) / sizeof(Word), in, kNegateA);
    Arithmetic::expand(&words.at[0][0][0], 4 * kRows, kWordBlocks, (g.flags & kOtherA) != 0, side);
    return true;
  }

  static bool load_b(Context& c, const Instr& in, const Geometry& g, const SharedMatrix& matrix,
                     unsigned block, typename Arithmetic::Side& side) {
    ColumnWords words;
    const auto word = [&](unsigned k, unsigned t, unsigned column) -> Word& {
      return words.at[k][4 * column + t];
    };
    const bool loaded = (in.flags & kTransB) != 0
                            ? load_transposed(c, in, matrix, block * kColumns, kColumns, word)
                            : load_rows(c, in, matrix, block * kColumns, kColumns, word);
    if (!loaded) return false;
    negate(&words.at[0][0], sizeof(words) / sizeof(Word), in, kNegateB);
    Arithmetic::expand(&words.at[0][0], kLanes, kWordBlocks, (g.flags & kOtherB) != 0, side);
    return true;
  }

  /// in.extra: the sign bits of a word's elements.
  static void negate(Word* words, std::size_t count, const Instr& in, std::uint16_t flag) {
    if ((in.flags & flag) == 0) return;
    for (std::size_t i = 0; i < count; ++i) words[i] ^= in.extra;
  }
};

/// Rejects combinations of types and shape that do not exist.
void check_form(Decode& d, const Modifiers& m) {
  const Element a = element_of(d, m.types[1]), b = element_of(d, m.types[2]);
  const std::string& sum = m.types[0];
  const unsigned bits = bits_of(a);
  const bool shape = m.shape.m == 64 && m.shape.n % 8 == 0 && m.shape.n >= 8 && m.shape.n <= 256 &&
                     m.shape.k * bits == 256;
  if (!shape) d.reject("this shape is not supported");
  const bool whole = is_integer(a) || a == Element::kB1;
  const bool same = a == b || (bits == 8 && bits_of(b) == 8 && is_integer(a) == is_integer(b));
  const bool half_sum = sum == "f16" && (a == Element::kF16 || (bits == 8 && !whole));
  if (!same || !(whole ? sum == "s32" : sum == "f32" || half_sum)) {
    d.reject("this combination of types does not exist");
  }
}

bool take_bit(Decode& d, std::size_t i, std::uint64_t yes, std::uint64_t no) {
  const Operand& operand = d.operand(i);
  const bool known =
      operand.kind == Operand::Kind::kInteger && (operand.bits == yes || operand.bits == no);
  if (!known) d.reject("an operand is not one of the literals that PTX allows");
  return operand.bits == yes;
}

/// Takes the literals after scale-d: signs of floating A and B, transposition of 16-bit elements.
void take_literals(Decode& d, std::size_t at, Element element) {
  const bool whole = is_integer(element) || element == Element::kB1;
  const bool registers = (d.out.flags & kRegistersA) != 0;
  const std::size_t trans = bits_of(element) == 16 ? (registers ? 1 : 2) : 0;
  const std::size_t literals = (whole ? 0 : 2) + trans;
  d.expect_operands(at + literals, at + literals);
  if (whole) return;
  constexpr auto kMinus = ~std::uint64_t{0};
  if (take_bit(d, at, kMinus, 1)) d.out.flags |= kNegateA;
  if (take_bit(d, at + 1, kMinus, 1)) d.out.flags |= kNegateB;
  if (trans == 2 && take_bit(d, at + 2, 1, 0)) d.out.flags |= kTransA;
  if (trans != 0 && take_bit(d, at + 1 + trans, 1, 0)) d.out.flags |= kTransB;
}

void decode_async(Decode& d) {
  const Modifiers m = take_modifiers(d);
  if (m.types.size() != 3) d.reject("three types are expected");
  check_form(d, m);
  const Element element = element_of(d, m.types[1]);
  Geometry g;
  g.k_blocks = kWordBlocks;
  g.column_blocks = static_cast<std::uint8_t>(m.shape.n / 8);
  if (m.types[0] == "f16") g.flags |= kHalfC | kHalfD;
  if (is_other(m.types[1])) g.flags |= kOtherA;
  if (is_other(m.types[2])) g.flags |= kOtherB;
  if (is_integer(element) && d.flag("satfinite")) g.flags |= kSaturate;
  if (element == Element::kB1) {
    if (!d.flag("and") || !d.flag("popc")) d.reject("the modifier .and.popc is missing");
    g.flags |= kAnd;
  }
  std::vector<std::uint32_t> list;
  take_registers(d, d.operand(0), m.shape.n / (m.types[0] == "f16" ? 4 : 2), Type::kB32, list,
                 true);
  g.a = static_cast<std::uint8_t>(list.size());
  if (d.operand(1).kind == Operand::Kind::kVector) {
    d.out.flags |= kRegistersA;
    take_registers(d, d.operand(1), 4, Type::kB32, list, false);
  } else {
    d.out.s[0] = d.source(d.operand(1), Type::kB64);
  }
  d.out.s[1] = d.source(d.operand(2), Type::kB64);
  bool negated = false;
  d.out.s[2] = d.predicate_source(d.operand(3), negated);
  if (negated) d.out.flags |= kScaleNegated;
  take_literals(d, 4, element);
  const unsigned bits = bits_of(element);
  d.out.extra = bits == 32 ? 0x80000000U : bits == 16 ? 0x80008000U : 0x80808080U;
  const bool narrow = element == Element::kE4m3 || element == Element::kE5m2;
  d.out.aux = static_cast<std::uint8_t>(narrow ? kFractionBitsOfFp8 : kFractionBits);
  d.out.list = d.keep(list);
  d.out.imm = std::bit_cast<std::int64_t>(g);
  if (narrow) return d.control(pick_by_width<OnFloats<MultiplyShared, Element::kE4m3>::Body>());
  choose_multiply<MultiplyShared>(d, element);
}

void nothing(Context& c, const Instr& in) { converge_warp(c, in); }

}  // namespace

void decode_wgmma(Decode& d) {
  if (d.flag("sp")) d.reject("sparse matrices are not supported");
  if (d.flag("mma_async")) return decode_async(d);
  const bool waits = d.flag("wait_group");
  if (!waits && !d.flag("fence") && !d.flag("commit_group")) {
    d.reject("only mma_async, fence, commit_group and wait_group are supported");
  }
  if (!d.flag("sync") || !d.flag("aligned")) d.reject("the modifier .sync.aligned is missing");
  d.expect_operands(waits ? 1 : 0, waits ? 1 : 0);
  d.control(&nothing);
}

}  // namespace kbench::ptx::matrix
