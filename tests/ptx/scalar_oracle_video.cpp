// SPDX-License-Identifier: MIT
#include <algorithm>

#include "ptx/scalar_oracle.hpp"

// Video instructions, from the text of the form.
namespace kbench::ptx::testing {
namespace {

using u64 = std::uint64_t;
using Int = __int128;

/// "%a.b1" of the n-th operand: its register, and what stands behind the point.
struct Operand {
  u64 word = 0;
  std::string selector;
};

std::vector<std::string> operand_texts(const Form& form) {
  const auto begin = form.code.find(form.name[0] + ".");
  const auto end = form.code.find(';', begin);
  std::string text = form.code.substr(begin, end - begin);
  text = text.substr(text.find(' ') + 1);
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    const auto comma = std::min(text.find(", ", at), text.size());
    parts.push_back(text.substr(at, comma - at));
    at = comma + 2;
  }
  return parts;
}

Operand operand(const std::string& text, const Tuple& t) {
  const u64 word = text[1] == 'a' ? t.a : text[1] == 'b' ? t.b : text[1] == 'c' ? t.c : 0;
  return {word & 0xffffffff, text.size() > 3 ? text.substr(3) : ""};
}

/// Type of an integer of that many bits with the sign of `word`, a 32-bit type.
std::string narrow(const std::string& word, unsigned bits) {
  return word.substr(0, 1) + std::to_string(bits);
}

Int clamp_to(const std::string& type, Int x) {
  const auto bits = std::stoul(type.substr(1));
  const Int high = (Int{1} << (type[0] == 's' ? bits - 1 : bits)) - 1;
  return std::clamp(x, type[0] == 's' ? -high - 1 : Int{0}, high);
}

Int apply(const Form& form, const std::string& op, Int a, Int b) {
  if (op == "vadd") return a + b;
  if (op == "vsub") return a - b;
  if (op == "vabsdiff") return a < b ? b - a : a - b;
  if (op == "vmin") return a < b ? a : b;
  if (op == "vmax") return a < b ? b : a;
  if (op == "vavrg") return (a + b + (a + b < 0 ? 0 : 1)) >> 1;
  const std::string& relation = form.name[3];
  return relation == "eq"   ? a == b
         : relation == "ne" ? a != b
         : relation == "lt" ? a < b
         : relation == "le" ? a <= b
         : relation == "gt" ? a > b
                            : a >= b;
}

/// Types of result, a and b.
struct Types {
  std::string d, a, b;
};
Types types_of(const Form& form, const std::string& op) {
  if (op == "vset") return {"u32", form.name[1], form.name[2]};
  return {form.name[1], form.name[2], form.name[3]};
}

u64 compute(const Form& form, const std::string& op, unsigned parts, const Tuple& t) {
  const auto texts = operand_texts(form);
  const Types types = types_of(form, op);
  const unsigned bits = 32 / parts;
  const u64 both = (t.b << 32) | (t.a & 0xffffffff);
  const auto from = [&](std::size_t k, unsigned i) {
    const std::string selector = operand(texts[k], t).selector;
    const unsigned standard = (k == 2 ? parts : 0) + i;
    const unsigned index =
        selector.empty() ? standard : static_cast<unsigned>(selector[parts - i] - '0');
    return both >> (bits * index);
  };
  const std::string mask = operand(texts[0], t).selector;
  Int total = static_cast<Int>(t.c);
  u64 merged = t.c & 0xffffffff;
  for (unsigned i = 0; i < parts; ++i) {
    if (!mask.empty() && mask.find(static_cast<char>('0' + i)) == std::string::npos) continue;
    Int value = apply(form, op, integer(narrow(types.a, bits), from(1, i)),
                      integer(narrow(types.b, bits), from(2, i)));
    if (form.has("sat")) value = clamp_to(narrow(types.d, bits), value);
    total += value;
    const u64 ones = ((u64{1} << bits) - 1) << (bits * i);
    merged = (merged & ~ones) | ((cut(value, 32) << (bits * i)) & ones);
  }
  return form.name.back() == "add" ? cut(total, 32) : merged;
}

}  // namespace

std::optional<Result> video_oracle(const Form& form, const Tuple& t) {
  std::string op = form.name[0];
  if (op[0] != 'v') return std::nullopt;
  const unsigned parts = op.ends_with("2") ? 2 : 4;
  op.pop_back();
  return Result{compute(form, op, parts, t), 0};
}

}  // namespace kbench::ptx::testing
