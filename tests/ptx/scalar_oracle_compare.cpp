// SPDX-License-Identifier: MIT
#include <cmath>

#include "ptx/scalar_oracle.hpp"

// set, setp, selp, slct, and the moves.
namespace kbench::ptx::testing {
namespace {

using u64 = std::uint64_t;

bool is_float(const std::string& type) { return type.find('f') != std::string::npos; }

/// How two values compare, in the words of the manual.
struct Order {
  bool less = false, equal = false, unordered = false;
};

Order order(const std::string& type, u64 a, u64 b, bool ftz) {
  if (!is_float(type)) {
    const std::string number = type[0] == 'b' ? "u" + type.substr(1) : type;
    return {integer(number, a) < integer(number, b), integer(number, a) == integer(number, b),
            false};
  }
  const auto value = [&](u64 bits) {
    const long double x = value_of(type, bits);
    const int least = type == "f16" ? -14 : -126;
    return ftz && std::fabs(x) < std::ldexp(1.0L, least) ? 0.0L : x;
  };
  const long double x = value(a), y = value(b);
  return {x < y, x == y, std::isnan(x) || std::isnan(y)};
}

bool holds(const Order& o, const std::string& relation) {
  if (relation == "num") return !o.unordered;
  if (relation == "nan") return o.unordered;
  const bool greater = !o.less && !o.equal && !o.unordered;
  const std::string ordered = relation.substr(0, 2);
  const bool value = ordered == "eq"                      ? o.equal
                     : ordered == "ne"                    ? o.less || greater
                     : ordered == "lt" || ordered == "lo" ? o.less
                     : ordered == "le" || ordered == "ls" ? o.less || o.equal
                     : ordered == "gt" || ordered == "hi" ? greater
                                                          : greater || o.equal;
  return value || (o.unordered && relation.size() == 3);
}

bool combined(const Form& form, bool value, bool other) {
  if (form.has("and")) return value && other;
  if (form.has("or")) return value || other;
  if (form.has("xor")) return value != other;
  return value;
}

u64 truth(const std::string& type, bool packed) {
  const std::string one = half_type(type);
  if (one == "f32") return 0x3f800000;
  if (one == "f16") return 0x3c00;
  if (one == "bf16") return 0x3f80;
  return packed || width(type) == 16 ? 0xffff : 0xffffffff;
}

Result compare(const Form& form, const Tuple& t) {
  const std::string& type = last_type(form);
  const bool packed = type.ends_with("x2"), ftz = form.has("ftz");
  const std::string one = half_type(type);
  const u64 mask = packed ? 0xffff : ~u64{0};
  const bool negated = form.code.find('!') != std::string::npos;
  const bool uses_q = form.code.find("!%q") != std::string::npos;
  const bool other = (((uses_q ? t.p >> 1 : t.p) & 1) != 0) != negated;
  const bool low = holds(order(one, t.a & mask, t.b & mask, ftz), form.name[1]);
  const bool high = packed && holds(order(one, t.a >> 16, t.b >> 16, ftz), form.name[1]);
  const auto both = [&](bool value) { return combined(form, value, other); };
  if (form.name[0] == "setp") return {both(low), both(packed ? high : !low)};
  const u64 yes = truth(form.results[0], packed);
  return {(both(low) ? yes : 0) | (packed && both(high) ? yes << 16 : 0), 0};
}

u64 selected_by_sign(const Form& form, const Tuple& t) {
  if (last_type(form) == "s32") return integer("s32", t.c) >= 0 ? t.a : t.b;
  const long double x = value_of("f32", t.c);
  const bool tiny = form.has("ftz") && std::fabs(x) < 0x1p-126L;
  return tiny || x >= 0 ? t.a : t.b;
}

/// The moves of vectors, by their place in the table.
std::optional<Result> vector_move(const Form& form, const Tuple& t) {
  const std::string& code = form.code;
  const auto is = [&](const char* part) { return code.find(part) != std::string::npos; };
  const u64 a8 = t.a & 255, b8 = t.b & 255;
  if (is("mov.b128")) return Result{t.b, t.a};
  if (is("{%u, %v, %v, %u}")) return Result{a8 | (b8 << 8) | (b8 << 16) | (a8 << 24), 0};
  if (is("{%u, %v}")) return Result{a8 | (b8 << 8), 0};
  if (is("{_, %u, _, %v}")) {
    return Result{(t.a >> 8) & 255, cut(integer("s8", t.a >> 24), 16)};
  }
  if (is("{_, _, %d, _}")) return Result{(t.a >> 32) & 0xffff, 0};
  if (is("{%a, %b, %c, %a}")) return Result{t.a | (t.b << 16) | (t.c << 32) | (t.a << 48), 0};
  const unsigned bits = width(is("{%d, %e}") ? form.results[0] : form.sources[0]);
  if (is("{%a, %b}")) return Result{t.a | (t.b << bits), 0};
  if (is("{%d, %e}")) return Result{cut(static_cast<__int128>(t.a), bits), t.a >> bits};
  return std::nullopt;
}

}  // namespace

std::optional<Result> compare_oracle(const Form& form, const Tuple& t) {
  const std::string& op = form.name[0];
  if (op == "set" || op == "setp") return compare(form, t);
  if (op == "selp") return Result{(t.p & 1) != 0 ? t.a : t.b, 0};
  if (op == "slct") return Result{selected_by_sign(form, t), 0};
  return std::nullopt;
}

std::optional<Result> move_oracle(const Form& form, const Tuple& t) {
  if (form.name[0] != "mov" && form.name[0] != "{") return std::nullopt;
  if (last_type(form) == "pred") return Result{t.p & 1, 0};
  if (form.code.find('{') != std::string::npos) return vector_move(form, t);
  return Result{t.a, 0};
}

}  // namespace kbench::ptx::testing
