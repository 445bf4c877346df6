// SPDX-License-Identifier: MIT
#include "ptx/machine/arithmetic.hpp"
#include "ptx/machine/decode.hpp"
#include "ptx/machine/lanes.hpp"

namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <FloatOp op, class T>
T apply(T a, T b, [[maybe_unused]] T e) {
  if constexpr (op == FloatOp::kAdd) return a + b;
  if constexpr (op == FloatOp::kSub) return a - b;
  if constexpr (op == FloatOp::kMul) return a * b;
  if constexpr (op == FloatOp::kFma) return std::fma(a, b, e);
}

template <FloatOp op>
constexpr bool kThree = op == FloatOp::kFma;

/// Decodes a float operation with the modifiers' flushing and saturation.
template <FloatOp op, bool ftz, bool sat>
void single(Decode& d) {
  if constexpr (ftz && (op == FloatOp::kMul || op == FloatOp::kFma)) {
    return flushed_product(d, op == FloatOp::kFma, sat);
  }
  const auto value = [](float a, float b, float e) {
    if constexpr (ftz) a = flush(a), b = flush(b), e = flush(e);
    float r = apply<op>(a, b, e);
    if constexpr (ftz) r = flush(r);
    if constexpr (sat) r = saturate(r);
    return r;
  };
  if constexpr (kThree<op>) {
    d.lanes<float, float, float, float>(value);
  } else {
    d.lanes<float, float, float>([](float a, float b) { return decltype(value){}(a, b, 0.0F); });
  }
}

template <FloatOp op>
void single(Decode& d, bool ftz, bool sat) {
  if (ftz) return sat ? single<op, true, true>(d) : single<op, true, false>(d);
  return sat ? single<op, false, true>(d) : single<op, false, false>(d);
}

/// Half-precision arithmetic on one lane, rounded once from a wider result.
template <class H, FloatOp op>
H half_apply(H a, H b, H e) {
  if constexpr (op == FloatOp::kFma) {
    return from_float<H>(odd_fma(to_float(a), to_float(b), to_float(e)));
  } else {
    // Sum or product of two values of at most 11 bits, in double precision, then rounded to odd.
    const double x = static_cast<double>(to_float(a)), y = static_cast<double>(to_float(b));
    if constexpr (op == FloatOp::kMul) return from_float<H>(odd_float(x * y));
    const float z = op == FloatOp::kSub ? -to_float(b) : to_float(b);
    return from_float<H>(odd_fma(to_float(a), 1.0F, z));
  }
}

template <class H>
H half_saturate(H h) {
  return from_float<H>(saturate(to_float(h)));
}

enum class Clamp : std::uint8_t { kOff, kSaturate, kRelu };

template <class H, FloatOp op, Clamp clamp>
H half_clamped(H a, H b, H e) {
  const H r = half_apply<H, op>(a, b, e);
  if constexpr (clamp == Clamp::kSaturate) return half_saturate(r);
  if constexpr (clamp == Clamp::kRelu) return half_relu(r);
  return r;
}

template <class H, FloatOp op, Clamp clamp>
void half_single(Decode& d, bool packed) {
  const auto value = [](H a, H b, H e) { return half_clamped<H, op, clamp>(a, b, e); };
  using F = decltype(value);
  using P = Pair<H>;
  if constexpr (kThree<op>) {
    if (!packed) return d.lanes<H, H, H, H>(value);
    d.lanes<P, P, P, P>([](P a, P b, P e) {
      return P{F{}(a.low, b.low, e.low), F{}(a.high, b.high, e.high)};
    });
  } else {
    if (!packed) return d.lanes<H, H, H>([](H a, H b) { return F{}(a, b, H{0}); });
    d.lanes<P, P, P>([](P a, P b) {
      return P{F{}(a.low, b.low, H{0}), F{}(a.high, b.high, H{0})};
    });
  }
}

template <FloatOp op>
void half(Decode& d, Type type) {
  d.flag("rn");
  if (d.flag("ftz")) return flushed_half(d, op, type);
  const bool packed = type == Type::kF16x2 || type == Type::kBf16x2;
  const bool bf = type == Type::kBf16 || type == Type::kBf16x2;
  const bool sat = d.flag("sat");
  const bool relu = op == FloatOp::kFma && d.flag("relu");
  const auto choose = [&]<class H>(H) {
    if (sat) return half_single<H, op, Clamp::kSaturate>(d, packed);
    if constexpr (op == FloatOp::kFma) {
      if (relu) return half_single<H, op, Clamp::kRelu>(d, packed);
    }
    half_single<H, op, Clamp::kOff>(d, packed);
  };
  return bf ? choose(Bfloat{}) : choose(Half{});
}

template <FloatOp op>
void arithmetic(Decode& d, Type type) {
  if (kThree<op>) {
    d.plain_operands(type, {type, type, type});
  } else {
    d.plain_operands(type, {type, type});
  }
  if (type != Type::kF32 && type != Type::kF64) {
    if (size_bytes(type) == 8 || type == Type::kTf32) d.reject("the type is not supported");
    return half<op>(d, type);
  }
  const auto rounding = take_rounding(d);
  const bool ftz = type == Type::kF32 && d.flag("ftz");
  const bool sat = type == Type::kF32 && d.flag("sat");
  if (rounding.value_or(Rounding::kNearest) != Rounding::kNearest) {
    static constexpr RoundedOp kOps[] = {RoundedOp::kAdd, RoundedOp::kSub, RoundedOp::kMul,
                                         RoundedOp::kFma};
    return rounded_operation(d, kOps[static_cast<int>(op)], type, *rounding, ftz, sat);
  }
  if (type == Type::kF32) return single<op>(d, ftz, sat);
  if constexpr (kThree<op>) {
    d.lanes<double, double, double, double>(
        [](double a, double b, double e) { return std::fma(a, b, e); });
  } else {
    d.lanes<double, double, double>([](double a, double b) { return apply<op>(a, b, 0.0); });
  }
}

/// a/b of div.approx: like a·(1/b), where 1/b is 0 for divisors beyond 2^126.
float divide_approx(float a, float b) {
  const bool huge =
      std::fabs(b) > 0x1p126F && std::fabs(b) < std::numeric_limits<float>::infinity();
  const float zero = a * 0.0F;  // NaN for an infinite dividend
  const float quotient = a / b;
  return huge ? zero : quotient;
}

/// Inputs and results of the coarse f64 approximations: the upper 32 bits, subnormals flushed. A
/// NaN whose payload is only in the lower bits becomes an infinity.
double upper_half(double a) {
  const u64 bits = std::bit_cast<u64>(a);
  const bool small = (bits & 0x7ff0000000000000ULL) == 0;
  const u64 kept = bits & (small ? 0x8000000000000000ULL : 0xffffffff00000000ULL);
  return std::bit_cast<double>(kept);
}

void decode_rcp(Decode& d) {
  const Type type = d.type();
  d.plain_operands(type, {type});
  const bool ftz = d.flag("ftz");
  if (d.flag("approx")) {
    if (type == Type::kF64) {
      if (!ftz) d.reject("rcp.approx.f64 needs .ftz");
      return d.lanes<double, double>([](double a) { return upper_half(1.0 / upper_half(a)); });
    }
    if (ftz) return d.lanes<float, float>([](float a) { return flush(1.0F / flush(a)); });
    return d.lanes<float, float>([](float a) { return 1.0F / a; });
  }
  if (ftz && type == Type::kF64) d.reject("f64 takes .ftz only with .approx");
  const auto rounding = take_rounding(d);
  if (!rounding) d.reject("the rounding is missing");
  if (*rounding != Rounding::kNearest) {
    return rounded_operation(d, RoundedOp::kRcp, type, *rounding, ftz, false);
  }
  if (type == Type::kF64) return d.lanes<double, double>([](double a) { return 1.0 / a; });
  if (ftz) return d.lanes<float, float>([](float a) { return flush(1.0F / flush(a)); });
  d.lanes<float, float>([](float a) { return 1.0F / a; });
}

void decode_sqrt(Decode& d) {
  const Type type = d.type();
  d.plain_operands(type, {type});
  const bool ftz = d.flag("ftz");
  if (!d.flag("approx")) {
    const auto rounding = take_rounding(d);
    if (!rounding) d.reject("the rounding is missing");
    if (*rounding != Rounding::kNearest) {
      return rounded_operation(d, RoundedOp::kSqrt, type, *rounding, ftz, false);
    }
  }
  if (type == Type::kF64) return d.lanes<double, double>([](double a) { return std::sqrt(a); });
  if (ftz) return d.lanes<float, float>([](float a) { return std::sqrt(flush(a)); });
  d.lanes<float, float>([](float a) { return std::sqrt(a); });
}

void decode_rsqrt(Decode& d) {
  if (!d.flag("approx")) d.reject("only .approx is supported");
  const bool ftz = d.flag("ftz");
  const Type type = d.type();
  d.plain_operands(type, {type});
  if (type == Type::kF64) {
    if (ftz) {
      return d.lanes<double, double>(
          [](double a) { return upper_half(1.0 / std::sqrt(upper_half(a))); });
    }
    return d.lanes<double, double>([](double a) { return 1.0 / std::sqrt(a); });
  }
  const auto value = [](float a) {
    return static_cast<float>(1.0 / std::sqrt(static_cast<double>(a)));
  };
  if (!ftz) return d.lanes<float, float>(value);
  d.lanes<float, float>([](float a) { return decltype(value){}(flush(a)); });
}

/// Approximation F of a half type, computed in f32 and rounded.
template <class H, bool ftz, class F>
void half_approximation(Decode& d, bool packed, F) {
  const auto one = [](H a) {
    const float r = F{}(to_float(a));
    return from_float<H>(ftz ? flush(r) : r);
  };
  using P = Pair<H>;
  if (!packed) return d.lanes<H, H>(one);
  d.lanes<P, P>([](P a) { return P{decltype(one){}(a.low), decltype(one){}(a.high)}; });
}

/// Approximation F of f32, optionally flushing.
template <class F>
void single_approximation(Decode& d, Type type, bool ftz, F) {
  if (type != Type::kF32) d.reject("the type is not supported");
  if (ftz) return d.lanes<float, float>([](float a) { return flush(F{}(flush(a))); });
  d.lanes<float, float>([](float a) { return F{}(a); });
}

struct ApproximateForm {
  Type type = Type::kF32;
  bool ftz = false;
};

ApproximateForm take_approximate(Decode& d) {
  if (!d.flag("approx")) d.reject("the modifier .approx is missing");
  ApproximateForm form;
  form.ftz = d.flag("ftz");
  form.type = d.type();
  d.plain_operands(form.type, {form.type});
  return form;
}

bool is_packed(Type type) { return type == Type::kF16x2 || type == Type::kBf16x2; }

void decode_ex2(Decode& d) {
  const auto value = [](float a) { return exp2_approx(a); };
  const auto [type, ftz] = take_approximate(d);
  const bool f16 = type == Type::kF16 || type == Type::kF16x2;
  if (f16 && !ftz) return half_approximation<Half, false>(d, is_packed(type), value);
  const bool bf16 = type == Type::kBf16 || type == Type::kBf16x2;
  // Subnormals of bf16 are also subnormal in f32, so one flush suffices. bf16 exists only with
  // .ftz.
  if (bf16 && ftz) return half_approximation<Bfloat, true>(d, is_packed(type), value);
  single_approximation(d, type, ftz, value);
}
void decode_tanh(Decode& d) {
  const auto value = [](float a) { return std::tanh(a); };
  const auto [type, ftz] = take_approximate(d);
  if (ftz) d.reject("the modifier .ftz is not supported");
  if (type == Type::kF16 || type == Type::kF16x2) {
    return half_approximation<Half, false>(d, is_packed(type), value);
  }
  if (type == Type::kBf16 || type == Type::kBf16x2) {
    return half_approximation<Bfloat, false>(d, is_packed(type), value);
  }
  single_approximation(d, type, false, value);
}
void decode_lg2(Decode& d) {
  const auto [type, ftz] = take_approximate(d);
  single_approximation(d, type, ftz, [](float a) { return log2_approx(a); });
}
void decode_sin(Decode& d) {
  const auto [type, ftz] = take_approximate(d);
  single_approximation(d, type, ftz, [](float a) { return std::sin(a); });
}
void decode_cos(Decode& d) {
  const auto [type, ftz] = take_approximate(d);
  single_approximation(d, type, ftz, [](float a) { return std::cos(a); });
}

void decode_fma(Decode& d) { arithmetic<FloatOp::kFma>(d, d.type()); }

void decode_copysign(Decode& d) {
  const Type type = d.type();
  d.plain_operands(type, {type, type});
  if (type == Type::kF64) {
    return d.lanes<double, double, double>([](double a, double b) { return std::copysign(b, a); });
  }
  if (type != Type::kF32) d.reject("the type is not supported");
  d.lanes<float, float, float>([](float a, float b) { return std::copysign(b, a); });
}

constexpr OpcodeRow kRows[] = {
    {"fma", decode_fma},           {"rcp", decode_rcp}, {"sqrt", decode_sqrt},
    {"rsqrt", decode_rsqrt},       {"ex2", decode_ex2}, {"lg2", decode_lg2},
    {"sin", decode_sin},           {"cos", decode_cos}, {"tanh", decode_tanh},
    {"copysign", decode_copysign},
};

}  // namespace

std::optional<Rounding> take_rounding(Decode& d) {
  if (d.flag("rn")) return Rounding::kNearest;
  if (d.flag("rz")) return Rounding::kZero;
  if (d.flag("rm")) return Rounding::kDown;
  if (d.flag("rp")) return Rounding::kUp;
  return std::nullopt;
}

void float_arithmetic(Decode& d, FloatOp op, Type type) {
  switch (op) {
    case FloatOp::kAdd:
      return arithmetic<FloatOp::kAdd>(d, type);
    case FloatOp::kSub:
      return arithmetic<FloatOp::kSub>(d, type);
    case FloatOp::kMul:
      return arithmetic<FloatOp::kMul>(d, type);
    case FloatOp::kFma:
      return arithmetic<FloatOp::kFma>(d, type);
  }
}

void float_divide(Decode& d, Type type) {
  d.plain_operands(type, {type, type});
  const bool ftz = d.flag("ftz");
  if (d.flag("approx")) {
    if (type != Type::kF32) d.reject("the type is not supported");
    if (!ftz) {
      return d.lanes<float, float, float>([](float a, float b) { return divide_approx(a, b); });
    }
    return d.lanes<float, float, float>(
        [](float a, float b) { return flush(divide_approx(flush(a), flush(b))); });
  }
  if (!d.flag("full")) {
    const auto rounding = take_rounding(d);
    if (!rounding) d.reject("the rounding is missing");
    if (*rounding != Rounding::kNearest) {
      return rounded_operation(d, RoundedOp::kDiv, type, *rounding, ftz, false);
    }
  }
  if (type == Type::kF64) {
    return d.lanes<double, double, double>([](double a, double b) { return a / b; });
  }
  if (type != Type::kF32) d.reject("the type is not supported");
  if (ftz) {
    // No quotient of floats lies between 2^-126 and the next smaller float, so rounding does not
    // matter.
    return d.lanes<float, float, float>([](float a, float b) {
      const double q = static_cast<double>(flush(a)) / static_cast<double>(flush(b));
      const float r = static_cast<float>(q);
      return std::fabs(q) < 0x1p-126 ? std::copysign(0.0F, r) : r;
    });
  }
  d.lanes<float, float, float>([](float a, float b) { return a / b; });
}

std::span<const OpcodeRow> float_opcodes() { return kRows; }

}  // namespace kbench::ptx
