// SPDX-License-Identifier: MIT
#include <algorithm>

#include "ptx/scalar_oracle.hpp"

namespace kbench::ptx::testing {
namespace {

using u64 = std::uint64_t;
using Int = __int128;

Int least(const std::string& type) {
  return type[0] == 's' ? -(Int{1} << (std::stoul(type.substr(1)) - 1)) : 0;
}
Int most(const std::string& type) {
  const auto bits = std::stoul(type.substr(1));
  return (Int{1} << (type[0] == 's' ? bits - 1 : bits)) - 1;
}
Int clamped(const std::string& type, Int x) { return std::clamp(x, least(type), most(type)); }

/// The upper half of a·b; 64 bits have a product of their own, which fits in 128.
Int high(const std::string& type, Int a, Int b) {
  if (type == "u64") return static_cast<Int>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> 64);
  return (a * b) >> std::stoul(type.substr(1));
}

Int low24(const std::string& type, Int x) {
  const Int low = x & 0xffffff;
  return type[0] == 's' && (low & 0x800000) != 0 ? low - 0x1000000 : low;
}

/// The part of a product that .lo, .hi or .wide names.
Int product_part(const Form& form, const std::string& type, Int a, Int b) {
  const bool small = form.name[0].ends_with("24");
  if (small) {
    const Int whole = low24(type, a) * low24(type, b);
    return form.has("hi") ? whole >> 16 : whole;
  }
  if (form.has("hi")) return high(type, a, b);
  return static_cast<Int>(static_cast<Wide>(a) * static_cast<Wide>(b));
}

/// One value; nothing where the opcode is another. 64-bit sums wrap in 128 bits without harm.
std::optional<Int> compute(const Form& form, const std::string& type, Int a, Int b, Int c) {
  const std::string& op = form.name[0];
  const bool sat = form.has("sat");
  if (op == "add") return sat ? clamped(type, a + b) : a + b;
  if (op == "sub") return sat ? clamped(type, a - b) : a - b;
  if (op == "mul" || op == "mul24") return product_part(form, type, a, b);
  if (op == "mad" || op == "mad24") {
    const auto product = static_cast<Wide>(product_part(form, type, a, b));
    const Int whole = static_cast<Int>(product + static_cast<Wide>(c));
    return sat ? clamped(type, whole) : whole;
  }
  if (op == "sad") return (a > b ? a - b : b - a) + c;
  if (op == "div") return b == 0 ? Int{-1} : a / b;
  if (op == "rem") return b == 0 ? Int{-1} : a % b;
  if (op == "abs") return a < 0 ? -a : a;
  if (op == "neg") return -a;
  if (op == "min" || op == "max") {
    const Int chosen = op == "min" ? std::min(a, b) : std::max(a, b);
    return form.has("relu") ? std::max(chosen, Int{0}) : chosen;
  }
  return std::nullopt;
}

/// Σ of products of the parts of a and b, plus c.
u64 dot(const Form& form, const Tuple& t) {
  const bool four = form.name[0] == "dp4a";
  const std::size_t at = four ? 1 : 2;
  const std::string a_type = form.name[at].substr(0, 1) + (four ? "8" : "16");
  const std::string b_type = form.name[at + 1].substr(0, 1) + "8";
  const unsigned first = form.has("hi") ? 16 : 0;
  Int total = static_cast<Int>(t.c);
  for (unsigned k = 0; k < (four ? 4U : 2U); ++k) {
    total +=
        integer(a_type, t.a >> (k * (four ? 8 : 16))) * integer(b_type, t.b >> (first + 8 * k));
  }
  return cut(total, 32);
}

/// The carry chains of the table, instruction by instruction: "op d, a, b[, c]; …".
class Carries {
 public:
  Carries(const Tuple& t, std::string type) : type_(std::move(type)), t_(t) {}

  void execute(const std::string& text) {
    const auto space = text.find(' ');
    std::string name = text.substr(0, space);
    const bool writes = name.find(".cc") != std::string::npos;
    const bool reads = name[3] == 'c';
    const unsigned bits = width(type_);
    std::string operands = text.substr(space + 1);
    u64 values[4] = {};
    for (std::size_t k = 0, at = 0; at != std::string::npos; ++k) {
      values[k] = value(operands[at] == '%' ? operands[at + 1] : '0');
      at = operands.find(", ", at);
      if (at != std::string::npos) at += 2;
    }
    const Wide carry = reads && carry_ ? 1 : 0;
    Wide whole = 0;
    if (name.starts_with("mad")) {
      const Int product = name.find(".hi") != std::string::npos
                              ? high(type_, integer(type_, values[1]), integer(type_, values[2]))
                              : static_cast<Int>(Wide{values[1]} * values[2]);
      whole = Wide{cut(product, bits)} + values[3] + carry;
    } else if (name.starts_with("add")) {
      whole = Wide{values[1]} + values[2] + carry;
    } else {
      whole = Wide{values[1]} - values[2] - (reads && !carry_ ? 1 : 0);
    }
    (operands[1] == 'd' ? result.d : result.e) = cut(static_cast<Int>(whole), bits);
    // A subtraction leaves the opposite of its borrow.
    if (writes) carry_ = (((whole >> bits) & 1) != 0) != name.starts_with("sub");
  }

  Result result;

 private:
  u64 value(char name) const {
    return name == 'a' ? t_.a : name == 'b' ? t_.b : name == 'c' ? t_.c : 0;
  }
  std::string type_;
  const Tuple& t_;
  bool carry_ = false;
};

Result carries(const Form& form, const Tuple& t) {
  Carries machine(t, last_type(form));
  for (std::size_t at = 0; at < form.code.size();) {
    const auto end = form.code.find(';', at);
    machine.execute(form.code.substr(at, end - at));
    at = form.code.find_first_not_of(' ', end + 1);
  }
  return machine.result;
}

}  // namespace

std::optional<Result> integer_oracle(const Form& form, const Tuple& t) {
  const std::string& op = form.name[0];
  const std::string& type = last_type(form);
  if (op == "dp4a" || op == "dp2a") return Result{dot(form, t), 0};
  if (form.has("cc")) return carries(form, t);
  if (type[0] != 'u' && type[0] != 's') return std::nullopt;
  const std::string one = half_type(type);
  const unsigned bits = type == one ? width(form.results[0]) : 16;
  const auto value = [&](u64 a, u64 b, u64 c) {
    // The addend of .wide has the width of the result.
    const std::string wide = form.has("wide") ? form.results[0] : one;
    return compute(form, one, integer(one, a), integer(one, b), integer(wide, c));
  };
  const auto low = value(t.a, t.b, t.c);
  if (!low) return std::nullopt;
  if (type == one) return Result{cut(*low, bits), 0};
  return Result{cut(*low, 16) | (cut(*value(t.a >> 16, t.b >> 16, 0), 16) << 16), 0};
}

}  // namespace kbench::ptx::testing
