// SPDX-License-Identifier: MIT
#include "ptx/scalar_oracle.hpp"

// add sub mul fma mad div rcp sqrt abs neg min max copysign testp of floating types.
namespace kbench::ptx::testing {
namespace {

using u64 = std::uint64_t;

Mode mode_of(const Form& form) {
  if (form.has("rz")) return Mode::kZero;
  if (form.has("rm")) return Mode::kDown;
  if (form.has("rp")) return Mode::kUp;
  return Mode::kNearest;
}

u64 with_sign(const Format& f, u64 bits, bool negative) {
  return (bits & f.nan()) | (negative ? u64{1} << f.sign_bit() : 0);
}

/// Order of two numbers: the signed magnitude, −0 below +0.
__int128 rank(const Format& f, u64 bits) {
  const auto magnitude = static_cast<__int128>(bits & f.nan());
  return (bits >> f.sign_bit()) & 1 ? -magnitude - 1 : magnitude;
}

u64 flushed(const Format& f, u64 bits) {
  return (bits & f.nan()) < (u64{1} << f.fraction) ? with_sign(f, 0, (bits >> f.sign_bit()) & 1)
                                                   : bits;
}

u64 extremum(const Form& form, const Format& f, u64 a, u64 b) {
  const bool maximum = form.name[0] == "max";
  if (form.has("ftz")) a = flushed(f, a), b = flushed(f, b);
  const bool xorsign = form.has("xorsign");
  const bool negative = (((a ^ b) >> f.sign_bit()) & 1) != 0;
  if (xorsign) a &= f.nan(), b &= f.nan();
  const bool a_nan = (a & f.nan()) > f.infinity, b_nan = (b & f.nan()) > f.infinity;
  if ((a_nan && b_nan) || (form.has("NaN") && (a_nan || b_nan))) return f.nan();
  const bool first =
      b_nan || (!a_nan && (maximum ? rank(f, a) >= rank(f, b) : rank(f, a) <= rank(f, b)));
  const u64 chosen = first ? a : b;
  return xorsign ? with_sign(f, chosen, negative) : chosen;
}

bool tested(const Form& form, const Format& f, u64 bits) {
  const u64 magnitude = bits & f.nan();
  const u64 normal = u64{1} << f.fraction;
  if (form.has("finite")) return magnitude < f.infinity;
  if (form.has("infinite")) return magnitude == f.infinity;
  if (form.has("number")) return magnitude <= f.infinity;
  if (form.has("notanumber")) return magnitude > f.infinity;
  if (form.has("normal")) return (magnitude >= normal && magnitude < f.infinity) || magnitude == 0;
  return magnitude != 0 && magnitude < normal;
}

/// Arithmetic of one value; nothing where the opcode is another.
std::optional<u64> arithmetic(const Form& form, const Format& f, u64 a, u64 b, u64 c) {
  const std::string& op = form.name[0];
  const bool ftz = form.has("ftz");
  const Mode mode = mode_of(form);
  const Exact x = exact(f, a, ftz), y = exact(f, b, ftz), z = exact(f, c, ftz);
  Clamp clamp;
  clamp.flush = ftz;
  clamp.saturate = form.has("sat");
  clamp.relu = form.has("relu");
  Exact minus_y = y;
  minus_y.negative = !y.negative;
  if (op == "add") return rounded(sum(x, y, mode), f, mode, clamp);
  if (op == "sub") return rounded(sum(x, minus_y, mode), f, mode, clamp);
  if (op == "mul") return rounded(product(x, y), f, mode, clamp);
  if (op == "fma" || op == "mad") return rounded(sum(product(x, y), z, mode), f, mode, clamp);
  if (op == "div") return rounded(quotient(x, y), f, mode, clamp);
  if (op == "rcp") return rounded(quotient(exact_integer(1), x), f, mode, clamp);
  if (op == "sqrt") return rounded(square_root(x), f, mode, clamp);
  if (op == "abs") return with_sign(f, ftz ? flushed(f, a) : a, false);
  if (op == "neg") return (ftz ? flushed(f, a) : a) ^ (u64{1} << f.sign_bit());
  if (op == "min" || op == "max") return extremum(form, f, a, b);
  if (op == "copysign") return with_sign(f, b, (a >> f.sign_bit()) & 1);
  if (op == "testp") return u64{tested(form, f, a)};
  return std::nullopt;
}

}  // namespace

std::optional<Result> float_oracle(const Form& form, const Tuple& t) {
  const std::string& type = last_type(form);
  const std::string one = half_type(type);
  if (type.find('f') == std::string::npos || form.name[0] == "cvt" ||
      form.name[0].starts_with("set") || form.name[0] == "slct" || form.name[0] == "selp" ||
      form.name[0] == "mov") {
    return std::nullopt;
  }
  const Format f = format_of(one);
  const auto low = arithmetic(form, f, t.a, t.b, t.c);
  if (!low || one == type) return low ? std::optional(Result{*low, 0}) : std::nullopt;
  const auto mask = [](u64 x) { return x & 0xffff; };
  const u64 first = *arithmetic(form, f, mask(t.a), mask(t.b), mask(t.c));
  const u64 second = *arithmetic(form, f, t.a >> 16, t.b >> 16, t.c >> 16);
  return Result{first | (second << 16), 0};
}

}  // namespace kbench::ptx::testing
