// SPDX-License-Identifier: MIT
#include <algorithm>

#include "ptx/scalar_oracle.hpp"

// Logic, shifts and bit fields, bit by bit as the manual's loops have it.
namespace kbench::ptx::testing {
namespace {

using u64 = std::uint64_t;

u64 bit(u64 x, u64 i) { return i < 64 ? (x >> i) & 1 : 0; }

/// A number assembled from its bits.
template <class F>
u64 from_bits(unsigned width, F&& f) {
  u64 d = 0;
  for (unsigned i = 0; i < width; ++i) d |= static_cast<u64>(f(i)) << i;
  return d;
}

bool logic(const std::string& op, bool a, bool b) {
  return op == "and" ? a && b : op == "or" ? a || b : a != b;
}

u64 shift(const Form& form, unsigned n, const Tuple& t) {
  const u64 by = std::min<u64>(t.b, n);
  if (form.name[0] == "shl")
    return from_bits(n, [&](u64 i) { return i >= by && bit(t.a, i - by); });
  const bool fill = last_type(form)[0] == 's' && bit(t.a, n - 1);
  return from_bits(n, [&](u64 i) { return i + by < n ? bit(t.a, i + by) : u64{fill}; });
}

u64 funnel(const Form& form, const Tuple& t) {
  const u64 both = (t.b << 32) | t.a;
  const u64 by = form.has("wrap") ? t.c & 31 : std::min<u64>(t.c, 32);
  const u64 first = form.has("l") ? 32 - by : by;
  return from_bits(32, [&](u64 i) { return bit(both, i + first); });
}

u64 permute(const Form& form, const Tuple& t) {
  const u64 both = (t.b << 32) | t.a;
  const u64 low = t.c & 3;
  u64 d = 0;
  for (u64 k = 0; k < 4; ++k) {
    u64 from = (t.c >> (4 * k)) & 7;
    bool spread = ((t.c >> (4 * k)) & 8) != 0;
    if (form.name.size() > 2) {
      const std::string& mode = form.name[2];
      spread = false;
      if (mode == "f4e") from = low + k;
      if (mode == "b4e") from = (low + 8 - k) & 7;
      if (mode == "rc8") from = low;
      if (mode == "ecl") from = std::max(low, k);
      if (mode == "ecr") from = std::min(low, k);
      if (mode == "rc16") from = (low & 1) * 2 + (k & 1);
    }
    const u64 byte = (both >> (8 * from)) & 255;
    d |= (spread ? (byte >> 7) * 255 : byte) << (8 * k);
  }
  return d;
}

u64 extract(const Form& form, unsigned n, const Tuple& t) {
  // The GPU looks at 8 bits of position and length, or for 64 bits at all of them.
  const u64 looked = n == 64 ? ~u64{0} : 255;
  const u64 position = t.b & looked, length = t.c & looked, top = n - 1;
  const bool sign =
      last_type(form)[0] == 's' && length != 0 && bit(t.a, std::min(position + length - 1, top));
  return from_bits(n, [&](u64 i) {
    return i < length && position + i <= top ? bit(t.a, position + i) : u64{sign};
  });
}

u64 insert(const Form& form, unsigned n, const Tuple& t) {
  const bool literal_length = form.code.find("%c, 11") != std::string::npos;
  const u64 c = n == 64 ? t.c : t.c & 255;
  const u64 position = literal_length ? c : 5, length = literal_length ? 11 : c;
  return from_bits(n, [&](u64 i) {
    return i >= position && i < position + length ? bit(t.a, i - position) : bit(t.b, i);
  });
}

u64 find_first(const Form& form, unsigned n, const Tuple& t) {
  const bool negative = last_type(form)[0] == 's' && bit(t.a, n - 1);
  for (unsigned i = n; i-- > 0;) {
    if (bit(t.a, i) != u64{negative}) return form.has("shiftamt") ? n - 1 - i : i;
  }
  return 0xffffffffU;
}

u64 extend(const Form& form, const Tuple& t) {
  const u64 width = t.b & 31;
  if (t.b >= 32 && form.has("clamp")) return t.a;
  const bool sign = last_type(form) == "s32" && width != 0 && bit(t.a, width - 1);
  return from_bits(32, [&](u64 i) { return i < width ? bit(t.a, i) : u64{sign}; });
}

u64 mask(const Form& form, const Tuple& t) {
  const bool clamp = form.has("clamp");
  const u64 first = clamp ? t.a : t.a & 31, count = clamp ? t.b : t.b & 31;
  return from_bits(32, [&](u64 i) { return i >= first && i - first < count; });
}

u64 nth_bit(const Form& form, const Tuple& t) {
  const std::string last = form.code.substr(form.code.rfind(' ') + 1);
  const auto n = last[0] == '%' ? static_cast<std::int32_t>(t.c) : std::stoi(last);
  const auto base = static_cast<std::int64_t>(t.b & 31);
  if (n == INT32_MIN) return 0;  // as measured
  if (n == 0) return bit(t.a, static_cast<u64>(base)) ? static_cast<u64>(base) : 0xffffffffU;
  std::int64_t left = n > 0 ? n : -std::int64_t{n};
  for (std::int64_t at = base; at >= 0 && at<32; at += n> 0 ? 1 : -1) {
    if (bit(t.a, static_cast<u64>(at)) && --left == 0) return static_cast<u64>(at);
  }
  return 0xffffffffU;
}

Result lop3(const Form& form, const Tuple& t) {
  const auto table = std::stoul(form.code.substr(form.code.find("0x")), nullptr, 16);
  const u64 d = from_bits(32, [&](u64 i) {
    return (table >> ((bit(t.a, i) << 2) | (bit(t.b, i) << 1) | bit(t.c, i))) & 1;
  });
  if (form.results.size() == 1) return {d, 0};
  return {d, logic(form.name[1], d != 0, (t.p & 1) != 0)};
}

}  // namespace

std::optional<Result> bit_oracle(const Form& form, const Tuple& t) {
  const std::string& op = form.name[0];
  const bool p = (t.p & 1) != 0, q = (t.p & 2) != 0;
  if (last_type(form) == "pred") {
    if (op == "not") return Result{!p, 0};
    return Result{logic(op, p, q), 0};
  }
  const unsigned n = width(form.sources[0]);
  if (op == "and" || op == "or" || op == "xor") {
    return Result{from_bits(n, [&](u64 i) { return logic(op, bit(t.a, i), bit(t.b, i)); }), 0};
  }
  if (op == "not") return Result{from_bits(n, [&](u64 i) { return !bit(t.a, i); }), 0};
  if (op == "cnot") return Result{t.a == 0, 0};
  if (op == "brev") return Result{from_bits(n, [&](u64 i) { return bit(t.a, n - 1 - i); }), 0};
  if (op == "popc" || op == "clz") {
    u64 ones = 0, zeros = n;
    for (u64 i = 0; i < n; ++i) {
      ones += bit(t.a, i);
      if (bit(t.a, i)) zeros = n - 1 - i;
    }
    return Result{op == "popc" ? ones : zeros, 0};
  }
  using Function = u64 (*)(const Form&, unsigned, const Tuple&);
  static const std::pair<const char*, Function> kSized[] = {
      {"shl", shift}, {"shr", shift}, {"bfe", extract}, {"bfi", insert}, {"bfind", find_first}};
  for (const auto& [name, function] : kSized) {
    if (op == name) return Result{function(form, n, t), 0};
  }
  using Plain = u64 (*)(const Form&, const Tuple&);
  static const std::pair<const char*, Plain> kPlain[] = {
      {"shf", funnel}, {"prmt", permute}, {"szext", extend}, {"bmsk", mask}, {"fns", nth_bit}};
  for (const auto& [name, function] : kPlain) {
    if (op == name) return Result{function(form, t), 0};
  }
  if (op == "lop3") return lop3(form, t);
  return std::nullopt;
}

}  // namespace kbench::ptx::testing
