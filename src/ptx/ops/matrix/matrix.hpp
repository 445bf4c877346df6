// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "ptx/machine/decode.hpp"

/// Layout of matrix fragments in the registers of a warp, and decoding of the modifiers.
///
/// A fragment consists of words of 32 bits (f64: 64). With p elements in a word, lane 4·g + t holds
/// row g of eight, at columns p·t … p·t + p − 1. Fragments of B are those of its transpose. Larger
/// shapes are blocks of that layout, as PTX defines for mma.
namespace kbench::ptx::matrix {

/// Types of the multiplied elements.
enum class Element : std::uint8_t {
  kF16,
  kBf16,
  kTf32,
  kE4m3,
  kE5m2,
  kS8,
  kU8,
  kS4,
  kU4,
  kB1,
  kF64
};

unsigned bits_of(Element element);
inline bool is_integer(Element e) { return e >= Element::kS8 && e <= Element::kU4; }

/// Bits of Geometry::flags.
constexpr std::uint8_t kHalfC = 1;      ///< c is f16
constexpr std::uint8_t kHalfD = 2;      ///< d is f16
constexpr std::uint8_t kOtherA = 4;     ///< e5m2 instead of e4m3, unsigned instead of signed
constexpr std::uint8_t kOtherB = 8;     ///< the same for b
constexpr std::uint8_t kSaturate = 16;  ///< .satfinite
constexpr std::uint8_t kAnd = 32;       ///< b1: and, else xor

/// A shape as blocks, with the index in Instr::list where each operand's registers start; d is
/// first.
struct Geometry {
  std::uint8_t row_blocks = 1;     ///< of 16 rows
  std::uint8_t halves = 2;         ///< of 8 rows in a block
  std::uint8_t column_blocks = 1;  ///< of 8 columns each
  std::uint8_t k_blocks = 1;       ///< words along k, in each lane
  std::uint8_t a = 0, b = 0, c = 0;
  std::uint8_t flags = 0;
};
static_assert(sizeof(Geometry) == sizeof(Instr::imm));

inline Geometry geometry_of(const Instr& in) { return std::bit_cast<Geometry>(in.imm); }

struct Shape {
  unsigned m = 0, n = 0, k = 0;
  bool operator==(const Shape&) const = default;
};

/// wmma of 8 by 32 runs as its transpose, as on the hardware: a and b are swapped.
inline bool is_turned(const Shape& shape) { return shape.m == 8 && shape.n == 32; }
inline Shape turn(const Shape& shape) { return {shape.n, shape.m, shape.k}; }

/// Blocks of a shape; the register indexes are not set yet.
Geometry geometry(const Shape& shape, Element element);

/// Modifiers of a matrix instruction, in their order.
struct Modifiers {
  Shape shape;
  std::vector<std::string> types, layouts;
};

/// Takes .sync, .aligned, the shape, layouts and types. Rejects if .sync, .aligned or shape is
/// missing.
Modifiers take_modifiers(Decode& d);

/// "s8" → kS8; rejects others.
Element element_of(Decode& d, std::string_view name);

/// True if a multiplication of this shape exists as mma (`wmma`: as wmma).
bool multiplies(const Shape& shape, Element element, bool wmma);

/// Appends the registers of a "{…}" operand, or a single one, to `list`. Rejects any other count.
void take_registers(Decode& d, const Operand& operand, std::size_t count, Type type,
                    std::vector<std::uint32_t>& list, bool written);

/// Waits until all lanes of the warp are at the instruction. False if some have yet to arrive, or
/// after a fault because some have exited.
bool converge_warp(Context& c, const Instr& in);

/// Decoders of the matrix instructions.
void decode_mma(Decode& d);
void decode_quad_mma(Decode& d, const Modifiers& modifiers);
void decode_wmma(Decode& d);
void decode_wmma_multiply(Decode& d);
void decode_wgmma(Decode& d);
void decode_ldmatrix(Decode& d);
void decode_stmatrix(Decode& d);
void decode_movmatrix(Decode& d);

}  // namespace kbench::ptx::matrix
