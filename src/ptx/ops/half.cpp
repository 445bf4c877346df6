// SPDX-License-Identifier: MIT
#include "ptx/machine/arithmetic.hpp"
#include "ptx/machine/decode.hpp"
#include "ptx/machine/lanes.hpp"

// Rare forms of half-precision operations, min and max. One function runs them all, lane by lane.
namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;

constexpr std::uint16_t kPacked = 1, kFlush = 2, kSaturate = 4, kRelu = 8, kNaN = 16, kXorSign = 32,
                        kMaximum = 64;

/// Flushes values that are subnormal in f16.
float flush_half(float x) { return std::fabs(x) < 0x1p-14F ? std::copysign(0.0F, x) : x; }

/// Calls f for each half of each lane: index 0, and 1 if the operands are packed.
template <class H, class F>
void for_halves(Context& c, const Instr& in, F&& f) {
  const unsigned parts = (in.flags & kPacked) != 0 ? 2 : 1;
  for_lanes(c.mask, [&](unsigned lane) {
    for (unsigned part = 0; part < parts; ++part) f(parts * lane + part);
  });
}

/// Operand k, flushed; zero if the instruction has none.
template <class H>
float half_operand(const Context& c, const Instr& in, std::size_t k, unsigned at) {
  return in.s[k] == kNone ? 0.0F : flush_half(to_float(c.source<H>(in.s[k])[at]));
}

float exact_half(FloatOp op, float a, float b, float e) {
  switch (op) {
    case FloatOp::kAdd:
      return odd_fma(a, 1.0F, b);
    case FloatOp::kSub:
      return odd_fma(a, 1.0F, -b);
    case FloatOp::kMul:
      return odd_float(static_cast<double>(a) * static_cast<double>(b));
    case FloatOp::kFma:
      return odd_fma(a, b, e);
  }
  return 0;
}

void flushed_arithmetic(Context& c, const Instr& in) {
  const auto op = static_cast<FloatOp>(in.aux);
  for_halves<Half>(c, in, [&](unsigned at) {
    const float exact =
        exact_half(op, half_operand<Half>(c, in, 0, at), half_operand<Half>(c, in, 1, at),
                   half_operand<Half>(c, in, 2, at));
    // Flushed if full precision would round it to below the least normal, before f16 rounding can
    // raise it.
    const bool tiny = std::fabs(exact) < 0x1p-14F - 0x1p-26F;
    Half result = to_half(tiny ? std::copysign(0.0F, exact) : exact);
    if ((in.flags & kSaturate) != 0) result = to_half(saturate(to_float(result)));
    if ((in.flags & kRelu) != 0) result = half_relu(result);
    c.target<Half>(in.d)[at] = result;
  });
}

void flushed_sign(Context& c, const Instr& in) {
  for_halves<Half>(c, in, [&](unsigned at) {
    const float a = half_operand<Half>(c, in, 0, at);
    c.target<Half>(in.d)[at] = to_half(in.aux != 0 ? std::fabs(a) : -a);
  });
}

float extremum(const Instr& in, float a, float b) {
  const bool xorsign = (in.flags & kXorSign) != 0;
  const bool negative = std::signbit(a) != std::signbit(b);
  if (xorsign) a = std::fabs(a), b = std::fabs(b);
  if ((in.flags & kNaN) != 0 && (a != a || b != b)) return std::numeric_limits<float>::quiet_NaN();
  const float chosen = (in.flags & kMaximum) != 0 ? max_number(a, b) : min_number(a, b);
  return xorsign && chosen == chosen && negative ? -chosen : chosen;
}

template <class H>
void unusual_extremum(Context& c, const Instr& in) {
  const bool ftz = (in.flags & kFlush) != 0;
  const auto get = [&](u32 operand, unsigned at) {
    const float x = to_float(c.source<H>(operand)[at]);
    if (!ftz) return x;
    return std::is_same_v<H, Half> ? flush_half(x) : flush(x);
  };
  for_halves<H>(c, in, [&](unsigned at) {
    c.target<H>(in.d)[at] = from_float<H>(extremum(in, get(in.s[0], at), get(in.s[1], at)));
  });
}

bool is_f16(Type type) { return type == Type::kF16 || type == Type::kF16x2; }
bool is_bf16(Type type) { return type == Type::kBf16 || type == Type::kBf16x2; }

std::uint16_t packing(Type type) {
  return type == Type::kF16x2 || type == Type::kBf16x2 ? kPacked : std::uint16_t{0};
}

}  // namespace

void flushed_half(Decode& d, FloatOp op, Type type) {
  if (!is_f16(type)) d.reject("only f16 takes .ftz");
  d.out.aux = static_cast<std::uint8_t>(op);
  d.out.flags = packing(type);
  if (d.flag("sat")) d.out.flags |= kSaturate;
  if (op == FloatOp::kFma && d.flag("relu")) d.out.flags |= kRelu;
  d.each(&flushed_arithmetic);
}

void flushed_half_sign(Decode& d, bool absolute, Type type) {
  if (!is_f16(type)) d.reject("only f16 takes .ftz");
  d.out.aux = absolute ? 1 : 0;
  d.out.flags = packing(type);
  d.each(&flushed_sign);
}

void unusual_min_max(Decode& d, bool maximum, Type type, bool ftz, bool nan, bool xorsign) {
  if (ftz && is_bf16(type)) d.reject("bf16 does not take .ftz");
  d.out.flags = static_cast<std::uint16_t>(packing(type) | (ftz ? kFlush : 0) | (nan ? kNaN : 0) |
                                           (xorsign ? kXorSign : 0) | (maximum ? kMaximum : 0));
  if (type == Type::kF32) return d.each(&unusual_extremum<float>);
  if (is_f16(type)) return d.each(&unusual_extremum<Half>);
  if (!is_bf16(type)) d.reject("the type is not supported");
  d.each(&unusual_extremum<Bfloat>);
}

}  // namespace kbench::ptx
