// SPDX-License-Identifier: MIT
#include <algorithm>

#include "ptx/scalar_oracle.hpp"

namespace kbench::ptx::testing {
namespace {

using u64 = std::uint64_t;

bool is_float(const std::string& type) {
  return type.find('f') != std::string::npos || type[0] == 'e';
}

struct Rounding {
  Mode mode = Mode::kNearest;
  bool integral = false;
};

Rounding rounding_of(const Form& form) {
  static const std::pair<const char*, Rounding> kNames[] = {
      {"rz", {Mode::kZero, false}},  {"rm", {Mode::kDown, false}},    {"rp", {Mode::kUp, false}},
      {"rna", {Mode::kAway, false}}, {"rni", {Mode::kNearest, true}}, {"rzi", {Mode::kZero, true}},
      {"rmi", {Mode::kDown, true}},  {"rpi", {Mode::kUp, true}}};
  for (const auto& [name, rounding] : kNames) {
    if (form.has(name)) return rounding;
  }
  return {};
}

__int128 least(const std::string& type) {
  return type[0] == 's' ? -(__int128{1} << (std::stoul(type.substr(1)) - 1)) : 0;
}
__int128 most(const std::string& type) {
  const auto bits = std::stoul(type.substr(1));
  return (__int128{1} << (type[0] == 's' ? bits - 1 : bits)) - 1;
}

/// An integer result fills its register, extended as its type says.
Result in_register(const Form& form, const std::string& type, __int128 value) {
  const __int128 narrow = integer(type, static_cast<u64>(value));
  return {cut(narrow, width(form.results[0])), 0};
}

Result to_integer_type(const Form& form, const std::string& to, const std::string& from, u64 a) {
  const Rounding rounding = rounding_of(form);
  if (!is_float(from)) {
    const __int128 value = integer(from, a);
    return in_register(form, to, form.has("sat") ? std::clamp(value, least(to), most(to)) : value);
  }
  const Exact x = exact(format_of(from), a, form.has("ftz"));
  if (x.kind == Exact::Kind::kNaN) {
    const bool wide = from == "f64" || to.ends_with("64");
    return in_register(form, to, wide ? __int128{1} << (std::stoul(to.substr(1)) - 1) : 0);
  }
  return in_register(form, to, std::clamp(to_integer(x, rounding.mode), least(to), most(to)));
}

Clamp clamp_of(const Form& form) {
  Clamp clamp;
  clamp.saturate = form.has("sat");
  clamp.relu = form.has("relu");
  clamp.finite = form.has("satfinite");
  return clamp;
}

u64 to_float_type(const Form& form, const std::string& to, const std::string& from, u64 a) {
  const Rounding rounding = rounding_of(form);
  const bool ftz = form.has("ftz");
  Clamp clamp = clamp_of(form);
  clamp.flush = ftz && to == "f32";
  if (!is_float(from)) {
    return rounded(exact_integer(integer(from, a)), format_of(to), rounding.mode, clamp);
  }
  Exact x = exact(format_of(from), a, ftz && from == "f32" && to != "f16");
  if (rounding.integral && x.kind == Exact::Kind::kFinite && x.e < 0) {
    const bool negative = x.negative;
    x = exact_integer(to_integer(x, rounding.mode));
    x.negative = negative;
  }
  return rounded(x, format_of(to), rounding.mode, clamp);
}

/// Packed results: two floats, or the two parts of one register.
Result to_pair(const Form& form, const std::string& to, const std::string& from, const Tuple& t) {
  const std::string part = half_type(to), source = half_type(from);
  const unsigned up = width(to) / 2;
  const auto one = [&](u64 bits) { return to_float_type(form, part, source, bits); };
  if (from == "f32") return {(one(t.a) << up) | one(t.b), 0};
  const unsigned bits = width(from) / 2;
  return {(one(t.a >> bits) << up) | one(t.a & ((u64{1} << bits) - 1)), 0};
}

Result pack(const Form& form, const Tuple& t) {
  const std::string& type = form.name[3];
  const auto bits = static_cast<unsigned>(std::stoul(type.substr(1)));
  const auto one = [&](u64 x) {
    return cut(std::clamp(integer("s32", x), least(type), most(type)), bits);
  };
  const u64 rest = bits == 16 ? 0 : t.c << (2 * bits);
  return {(rest | (one(t.a) << bits) | one(t.b)) & 0xffffffffU, 0};
}

}  // namespace

std::optional<Result> convert_oracle(const Form& form, const Tuple& t) {
  if (form.name[0] != "cvt") return std::nullopt;
  if (form.has("pack")) return pack(form, t);
  const std::string& from = form.name.back();
  const std::string& to = form.name[form.name.size() - 2];
  if (to == "tf32" && form.has("rna") && (t.a & 0x7fffffff) > 0x7f800000) {
    // The GPU's sequence has no case for NaN, as measured.
    return Result{(t.a & 0xffffe000) - (form.has("satfinite") ? 0x2000 : 0), 0};
  }
  if (to == "tf32") return Result{to_float_type(form, to, from, t.a) << 13, 0};
  if (to.ends_with("x2")) return to_pair(form, to, from, t);
  if (is_float(to)) return Result{to_float_type(form, to, from, t.a), 0};
  return to_integer_type(form, to, from, t.a);
}

}  // namespace kbench::ptx::testing
