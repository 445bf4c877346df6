// SPDX-License-Identifier: MIT
#include "ptx/machine/arithmetic.hpp"

// Minimum, maximum and sign of floating-point values.
namespace kbench::ptx {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <bool maximum, bool nan_wins, class T>
T extremum(T a, T b) {
  const T chosen = maximum ? max_number(a, b) : min_number(a, b);
  if constexpr (nan_wins) {
    const T nan = std::numeric_limits<T>::quiet_NaN();
    return a != a || b != b ? nan : chosen;
  }
  return chosen;
}

template <bool maximum, bool nan_wins, class H>
H half_extremum(H a, H b) {
  return from_float<H>(extremum<maximum, nan_wins>(to_float(a), to_float(b)));
}

template <bool maximum, bool nan_wins>
void order(Decode& d, Type type, bool ftz) {
  const auto halves = [&]<class H>(H) {
    const auto one = [](H a, H b) { return half_extremum<maximum, nan_wins>(a, b); };
    using F = decltype(one);
    using P = Pair<H>;
    if (size_bytes(type) == 2) return d.lanes<H, H, H>(one);
    d.lanes<P, P, P>([](P a, P b) { return P{F{}(a.low, b.low), F{}(a.high, b.high)}; });
  };
  switch (type) {
    case Type::kF64:
      return d.lanes<double, double, double>(
          [](double a, double b) { return extremum<maximum, nan_wins>(a, b); });
    case Type::kF32:
      if (ftz) {
        return d.lanes<float, float, float>(
            [](float a, float b) { return extremum<maximum, nan_wins>(flush(a), flush(b)); });
      }
      return d.lanes<float, float, float>(
          [](float a, float b) { return extremum<maximum, nan_wins>(a, b); });
    case Type::kF16:
    case Type::kF16x2:
      return halves(Half{});
    case Type::kBf16:
    case Type::kBf16x2:
      return halves(Bfloat{});
    default:
      d.reject("the type is not supported");
  }
}

template <class T>
void change_sign(Decode& d, bool absolute) {
  // The mask depends on the type only, so it is passed as a constant.
  if (absolute) {
    d.lanes<T, T, T>([](T a, T mask) { return static_cast<T>(a & static_cast<T>(~mask)); });
  } else {
    d.lanes<T, T, T>([](T a, T mask) { return static_cast<T>(a ^ mask); });
  }
}

}  // namespace

void float_min_max(Decode& d, bool maximum, Type type) {
  d.plain_operands(type, {type, type});
  const bool ftz = d.flag("ftz");
  const bool nan = d.flag("NaN");
  const bool xorsign = d.flag("xorsign");
  if (xorsign && !d.flag("abs")) d.reject("the modifier .abs is missing");
  if (xorsign || (ftz && type != Type::kF32)) {
    return unusual_min_max(d, maximum, type, ftz, nan, xorsign);
  }
  if (maximum) return nan ? order<true, true>(d, type, ftz) : order<true, false>(d, type, ftz);
  return nan ? order<false, true>(d, type, ftz) : order<false, false>(d, type, ftz);
}

void float_sign(Decode& d, bool absolute, Type type) {
  d.plain_operands(type, {type});
  if (type == Type::kF32 && d.flag("ftz")) {
    if (absolute) return d.lanes<float, float>([](float a) { return std::fabs(flush(a)); });
    return d.lanes<float, float>([](float a) { return -flush(a); });
  }
  if (size_bytes(type) < 8 && d.flag("ftz")) return flushed_half_sign(d, absolute, type);
  const bool packed = type == Type::kF16x2 || type == Type::kBf16x2;
  const unsigned bytes = size_bytes(type);
  const u64 signs = packed ? 0x80008000U : u64{1} << (8 * bytes - 1);
  d.out.s[1] = d.constant(signs, bytes);
  if (bytes == 8) return change_sign<u64>(d, absolute);
  if (bytes == 4) return change_sign<u32>(d, absolute);
  change_sign<u16>(d, absolute);
}

}  // namespace kbench::ptx
