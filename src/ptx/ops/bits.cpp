// SPDX-License-Identifier: MIT
#include <bit>

#include "ptx/machine/type_switch.hpp"

namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

enum class Logic : std::uint8_t { kAnd, kOr, kXor };

template <Logic op>
void predicate_logic(Context& c, const Instr& in) {
  const u32 a = c.predicate_source(in.s[0]) ^ ((in.aux & 1) != 0 ? kAllLanes : 0U);
  const u32 b = c.predicate_source(in.s[1]) ^ ((in.aux & 2) != 0 ? kAllLanes : 0U);
  const u32 value = op == Logic::kAnd ? a & b : op == Logic::kOr ? a | b : a ^ b;
  c.set_predicate(in.d, value);
}

template <Logic op>
void decode_logic(Decode& d) {
  const Type type = d.type();
  d.expect_operands(3, 3);
  if (type == Type::kPred) {
    bool negate_a = false, negate_b = false;
    d.out.d = d.predicate(d.operand(0));
    d.out.s[0] = d.predicate_source(d.operand(1), negate_a);
    d.out.s[1] = d.predicate_source(d.operand(2), negate_b);
    d.out.aux = static_cast<std::uint8_t>((negate_a ? 1 : 0) | (negate_b ? 2 : 0));
    return d.each(&predicate_logic<op>);
  }
  bits_operation<2>(d, type, []<class T>(T a, T b) {
    return static_cast<T>(op == Logic::kAnd ? a & b : op == Logic::kOr ? a | b : a ^ b);
  });
}

void predicate_not(Context& c, const Instr& in) {
  c.set_predicate(in.d, ~c.predicate_source(in.s[0]));
}

void decode_not(Decode& d) {
  const Type type = d.type();
  if (type == Type::kPred) {
    d.expect_operands(2, 2);
    d.out.d = d.predicate(d.operand(0));
    d.out.s[0] = d.predicate(d.operand(1));
    return d.each(&predicate_not);
  }
  bits_operation<1>(d, type, []<class T>(T a) { return static_cast<T>(~a); });
}

void decode_cnot(Decode& d) {
  bits_operation<1>(d, d.type(), []<class T>(T a) { return static_cast<T>(a == 0 ? 1 : 0); });
}

void decode_shl(Decode& d) {
  const Type type = d.type();
  d.plain_operands(type, {type, Type::kU32});
  with_bits(d, type, [&]<class T>(T) {
    constexpr u32 kBits = 8 * sizeof(T);
    d.lanes<T, T, u32>([](T a, u32 n) {
      const T shifted = static_cast<T>(a << (n & (kBits - 1)));
      return static_cast<T>(n < kBits ? shifted : T{0});
    });
  });
}

void decode_shr(Decode& d) {
  const Type type = d.type();
  d.plain_operands(type, {type, Type::kU32});
  with_bits(d, type, [&]<class T>(T) {
    constexpr u32 kBits = 8 * sizeof(T);
    using S = std::make_signed_t<T>;
    if (is_signed(type)) {
      d.lanes<S, S, u32>(
          [](S a, u32 n) { return static_cast<S>(a >> (n < kBits ? n : kBits - 1)); });
    } else {
      d.lanes<T, T, u32>([](T a, u32 n) {
        const T shifted = static_cast<T>(a >> (n & (kBits - 1)));
        return static_cast<T>(n < kBits ? shifted : T{0});
      });
    }
  });
}

void decode_shf(Decode& d) {
  const bool left = d.flag("l");
  if (!left && !d.flag("r")) d.reject("one of .l, .r is missing");
  const bool wrap = d.flag("wrap");
  if (!wrap && !d.flag("clamp")) d.reject("one of .wrap, .clamp is missing");
  if (d.type() != Type::kB32) d.reject("the type is not supported");
  d.plain_operands(Type::kB32, {Type::kB32, Type::kB32, Type::kB32});
  with_bools(left, wrap,
             [&]<bool kLeft, bool kWrap>(std::bool_constant<kLeft>, std::bool_constant<kWrap>) {
               d.lanes<u32, u32, u32, u32>([](u32 a, u32 b, u32 n) {
                 n = kWrap ? n & 31U : (n < 32U ? n : 32U);
                 const u64 both = (u64{b} << 32) | a;
                 return static_cast<u32>(kLeft ? (both << n) >> 32 : both >> n);
               });
             });
}

/// Decodes d = f(a) where d is a count of bits.
template <class F>
void count_bits(Decode& d, F f) {
  const Type type = d.type();
  d.plain_operands(Type::kU32, {type});
  with_bits(d, type, [&]<class T>(T) { d.lanes<u32, T>(f); });
}

void decode_popc(Decode& d) {
  count_bits(d, [](auto a) { return static_cast<u32>(std::popcount(a)); });
}

void decode_clz(Decode& d) {
  count_bits(d, [](auto a) { return static_cast<u32>(std::countl_zero(a)); });
}

void decode_brev(Decode& d) {
  bits_operation<1>(d, d.type(), []<class T>(T a) {
    T result = 0;
    for (unsigned k = 0; k < 8 * sizeof(T); ++k) {
      result = static_cast<T>((result << 1) | ((a >> k) & 1U));
    }
    return result;
  });
}

void decode_bfind(Decode& d) {
  const bool shift = d.flag("shiftamt");
  const Type type = d.type();
  d.plain_operands(Type::kU32, {type});
  const bool sign = is_signed(type);
  with_bits(d, type, [&]<class T>(T) {
    with_bools(sign, shift,
               [&]<bool kSign, bool kShift>(std::bool_constant<kSign>, std::bool_constant<kShift>) {
                 d.lanes<u32, T>([](T a) {
                   const bool negative = kSign && (a >> (8 * sizeof(T) - 1)) != 0;
                   const T magnitude = negative ? static_cast<T>(~a) : a;
                   const auto zeros = static_cast<u32>(std::countl_zero(magnitude));
                   if (magnitude == 0) return 0xffffffffU;
                   return kShift ? zeros : static_cast<u32>(8 * sizeof(T) - 1) - zeros;
                 });
               });
  });
}

struct Lop3 {
  static void run(Context& c, const Instr& in) {
    u32* d = c.target<u32>(in.d);
    const u32* a = c.source<u32>(in.s[0]);
    const u32* b = c.source<u32>(in.s[1]);
    const u32* e = c.source<u32>(in.s[2]);
    u32 term[8];
    for (unsigned k = 0; k < 8; ++k) term[k] = (in.aux >> k) & 1U ? ~0U : 0U;
    for (unsigned i = 0; i < kLanes; ++i) {
      const u32 x = a[i], y = b[i], z = e[i];
      const u32 value = (~x & ~y & ~z & term[0]) | (~x & ~y & z & term[1]) |
                        (~x & y & ~z & term[2]) | (~x & y & z & term[3]) | (x & ~y & ~z & term[4]) |
                        (x & ~y & z & term[5]) | (x & y & ~z & term[6]) | (x & y & z & term[7]);
      d[i] = ((c.mask >> i) & 1U) != 0 ? value : d[i];
    }
  }
};

/// p = (d != 0) combined with the predicate q in in.s[3]; in.flags holds the combination.
void lop3_predicate(Context& c, const Instr& in) {
  static const Execute kCompute = pick<Lop3>();
  kCompute(c, in);
  const u32* d = c.source<u32>(in.d);
  u32 any = 0;
  for (unsigned i = 0; i < kLanes; ++i) any |= static_cast<u32>(d[i] != 0) << i;
  const u32 other = c.predicate_source(in.s[3]) ^ (in.imm != 0 ? kAllLanes : 0U);
  const u32 value = in.flags != 0 ? any & other : any | other;
  c.set_predicate(in.extra, value);
}

void decode_lop3(Decode& d) {
  const bool both = d.flag("and");
  const bool combined = both || d.flag("or");
  if (d.type() != Type::kB32) d.reject("the type is not supported");
  d.expect_operands(combined ? 6 : 5, combined ? 6 : 5);
  const Operand& target = d.operand(0);
  d.out.d = d.destination(target, Type::kB32);
  for (std::size_t i = 0; i < 3; ++i) d.out.s[i] = d.source(d.operand(i + 1), Type::kB32);
  if (d.operand(4).kind != Operand::Kind::kInteger) d.reject("the table must be a literal");
  d.out.aux = static_cast<std::uint8_t>(d.operand(4).bits);
  if (!combined) return d.each(pick<Lop3>());
  Operand second;
  second.name = target.second;
  d.out.extra = d.predicate(second);
  bool negated = false;
  d.out.s[3] = d.predicate_source(d.operand(5), negated);
  d.out.imm = negated ? 1 : 0;
  d.out.flags = both ? 1 : 0;
  d.each(&lop3_predicate);
}

constexpr OpcodeRow kRows[] = {
    {"and", decode_logic<Logic::kAnd>},
    {"or", decode_logic<Logic::kOr>},
    {"xor", decode_logic<Logic::kXor>},
    {"not", decode_not},
    {"cnot", decode_cnot},
    {"shl", decode_shl},
    {"shr", decode_shr},
    {"shf", decode_shf},
    {"popc", decode_popc},
    {"clz", decode_clz},
    {"brev", decode_brev},
    {"bfind", decode_bfind},
    {"lop3", decode_lop3},
};

}  // namespace

std::span<const OpcodeRow> bit_opcodes() { return kRows; }

}  // namespace kbench::ptx
