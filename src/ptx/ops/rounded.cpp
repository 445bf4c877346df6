// SPDX-License-Identifier: MIT
#include <cfenv>
#include <cmath>

#include "ptx/machine/arithmetic.hpp"

// Directed rounding by the host's rounding mode. This file is compiled with -frounding-math.
namespace kbench::ptx {
namespace {

class HostRounding {
 public:
  explicit HostRounding(Rounding rounding) : before_(std::fegetround()) {
    static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(kModes[static_cast<int>(rounding)]);
  }
  ~HostRounding() { std::fesetround(before_); }
  HostRounding(const HostRounding&) = delete;
  HostRounding& operator=(const HostRounding&) = delete;

 private:
  int before_;
};

template <class T>
T compute(RoundedOp op, volatile T& a, volatile T& b, volatile T& e) {
  switch (op) {
    case RoundedOp::kAdd:
      return a + b;
    case RoundedOp::kSub:
      return a - b;
    case RoundedOp::kMul:
      return a * b;
    case RoundedOp::kFma:
      return std::fma(static_cast<T>(a), static_cast<T>(b), static_cast<T>(e));
    case RoundedOp::kDiv:
      return a / b;
    case RoundedOp::kRcp:
      return T{1} / a;
    case RoundedOp::kSqrt:
      return std::sqrt(static_cast<T>(a));
  }
  return a;
}

/// True if the result was rounded up to the least normal from a value that .ftz flushes. With 24
/// bits and enough exponent range, the same operation stays below.
template <class T>
bool tiny(RoundedOp op, T result, T a, T b, T e) {
  if (std::fabs(result) != T{0x1p-126}) return false;
  volatile double x = static_cast<double>(a), y = static_cast<double>(b),
                  z = static_cast<double>(e);
  volatile double wide = compute<double>(op, x, y, z);
  volatile double raised = wide * 0x1p64;
  volatile float narrow = static_cast<float>(raised);
  return std::fabs(narrow) < 0x1p-62F;
}

constexpr std::uint16_t kFlush = 16, kSaturate = 32;

template <class T>
void run(Context& c, const Instr& in) {
  const auto op = static_cast<RoundedOp>(in.aux);
  const bool ftz = (in.flags & kFlush) != 0;
  const auto get = [&](std::uint32_t operand, unsigned lane) -> T {
    if (operand == kNone) return T{0};
    const T value = c.source<T>(operand)[lane];
    if constexpr (sizeof(T) == 4) return ftz ? flush(value) : value;
    return value;
  };
  T* d = c.target<T>(in.d);
  const HostRounding mode(static_cast<Rounding>(in.flags & 15));
  for_lanes(c.mask, [&](unsigned i) {
    volatile T a = get(in.s[0], i), b = get(in.s[1], i), e = get(in.s[2], i);
    volatile T result = compute<T>(op, a, b, e);
    T value = result;
    if constexpr (sizeof(T) == 4) {
      if (ftz) value = flush(tiny<T>(op, value, a, b, e) ? std::copysign(T{0}, value) : value);
    }
    if ((in.flags & kSaturate) != 0) value = saturate(value);
    d[i] = value;
  });
}

}  // namespace

void rounded_operation(Decode& d, RoundedOp op, Type type, Rounding rounding, bool ftz, bool sat) {
  if (type != Type::kF32 && type != Type::kF64) d.reject("the type is not supported");
  d.out.aux = static_cast<std::uint8_t>(op);
  d.out.flags = static_cast<std::uint16_t>(static_cast<int>(rounding) | (ftz ? kFlush : 0) |
                                           (sat ? kSaturate : 0));
  d.each(type == Type::kF64 ? &run<double> : &run<float>);
}

}  // namespace kbench::ptx
