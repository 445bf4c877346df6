// SPDX-License-Identifier: MIT
#include <type_traits>

#include "ptx/machine/arithmetic.hpp"
#include "ptx/machine/lanes.hpp"
#include "ptx/machine/type_switch.hpp"

namespace kbench::ptx {
namespace {

using u32 = std::uint32_t;

enum class Relation : std::uint8_t {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan,
};

struct RelationRow {
  std::string_view name;
  Relation relation;
};
constexpr RelationRow kRelations[] = {
    {"eq", Relation::kEq},   {"ne", Relation::kNe},   {"lt", Relation::kLt},
    {"le", Relation::kLe},   {"gt", Relation::kGt},   {"ge", Relation::kGe},
    {"equ", Relation::kEqu}, {"neu", Relation::kNeu}, {"ltu", Relation::kLtu},
    {"leu", Relation::kLeu}, {"gtu", Relation::kGtu}, {"geu", Relation::kGeu},
    {"num", Relation::kNum}, {"nan", Relation::kNan}, {"lo", Relation::kLt},
    {"ls", Relation::kLe},   {"hi", Relation::kGt},   {"hs", Relation::kGe},
};

template <Relation r, class T>
bool holds(T a, T b) {
  if constexpr (r == Relation::kEq) return a == b;
  if constexpr (r == Relation::kNe) return a < b || a > b;
  if constexpr (r == Relation::kLt) return a < b;
  if constexpr (r == Relation::kLe) return a <= b;
  if constexpr (r == Relation::kGt) return a > b;
  if constexpr (r == Relation::kGe) return a >= b;
  if constexpr (r == Relation::kEqu) return !(a < b || a > b);
  if constexpr (r == Relation::kNeu) return !(a == b);
  if constexpr (r == Relation::kLtu) return !(a >= b);
  if constexpr (r == Relation::kLeu) return !(a > b);
  if constexpr (r == Relation::kGtu) return !(a <= b);
  if constexpr (r == Relation::kGeu) return !(a < b);
  if constexpr (r == Relation::kNum) return a == a && b == b;
  return a != a || b != b;
}

/// The outcomes (bits: less, equal, greater, unordered) for which a relation holds.
unsigned outcomes(Relation relation) {
  static constexpr unsigned kHolds[] = {2, 5, 1, 3, 4, 6, 10, 13, 9, 11, 12, 14, 7, 8};
  return kHolds[static_cast<std::size_t>(relation)];
}

bool is_half(Type type) { return type >= Type::kF16 && type <= Type::kBf16x2; }
bool is_packed(Type type) { return type == Type::kF16x2 || type == Type::kBf16x2; }

Relation take_relation(Decode& d) {
  for (const RelationRow& row : kRelations) {
    if (d.flag(row.name)) return row.relation;
  }
  d.reject("the comparison is not supported");
}

/// Calls f with the relation as a constant. Integers have only the first six relations.
template <bool floating, class F>
void with_relation(Relation relation, F&& f) {
  const auto is = [&]<Relation r>(std::integral_constant<Relation, r> value) {
    if (relation == r) f(value);
  };
  const auto all = [&]<std::size_t... I>(std::index_sequence<I...>) {
    (is(std::integral_constant<Relation, static_cast<Relation>(I)>{}), ...);
  };
  all(std::make_index_sequence < floating ? 14 : 6 > {});
}

template <class T>
struct Flushed {
  T value;
};

/// Converts a lane of an operand to a type that C++ can compare.
template <class T>
T comparable(T x) {
  return x;
}
inline float comparable(Half x) { return to_float(x); }
inline float comparable(Bfloat x) { return to_float(x); }
inline float comparable(Flushed<float> x) { return flush(x.value); }
inline float comparable(Flushed<Half> x) {
  return to_float((x.value.bits & 0x7c00U) == 0 ? Half{0} : x.value);
}

template <class F>
void with_comparable(Decode& d, Type type, F&& f) {
  switch (type) {
    case Type::kF32:
      return d.flag("ftz") ? f(Flushed<float>{}) : f(float{});
    case Type::kF64:
      return f(double{});
    case Type::kF16:
      return d.flag("ftz") ? f(Flushed<Half>{}) : f(Half{});
    case Type::kBf16:
      return f(Bfloat{});
    default:
      return with_integer(d, type, f);
  }
}

template <class T, class F>
Execute comparison(Relation relation, F&& wrap) {
  Execute execute = nullptr;
  using C = decltype(comparable(T{}));
  with_relation<std::is_floating_point_v<C>>(
      relation, [&]<Relation r>(std::integral_constant<Relation, r>) {
        const auto test = [](T a, T b) { return holds<r, C>(comparable(a), comparable(b)); };
        execute = wrap(test);
      });
  return execute;
}

void decode_setp(Decode& d) {
  d.expect_operands(3, 4);
  const Relation relation = take_relation(d);
  take_combination(d, 3);
  const Type type = d.type();
  const Operand& target = d.operand(0);
  if (target.kind != Operand::Kind::kSink) d.out.d = d.predicate(target);
  if (!target.second.empty() && target.second != "_") {
    Operand second;
    second.name = target.second;
    d.out.extra = d.predicate(second);
  }
  d.out.s[0] = d.source(d.operand(1), type);
  d.out.s[1] = d.source(d.operand(2), type);
  if (is_packed(type)) return packed_setp(d, outcomes(relation), type);
  with_comparable(d, type, [&]<class T>(T) {
    const Execute execute =
        comparison<T>(relation, []<class F>(F) { return pick<Test<F, T, T>>(); });
    if (execute == nullptr) d.reject("the comparison is not supported for this type");
    d.each(execute);
  });
}

void decode_set(Decode& d) {
  d.expect_operands(3, 4);
  const Relation relation = take_relation(d);
  take_combination(d, 3);
  const Type result = d.type();
  const Type type = d.type();
  d.out.d = d.destination(d.operand(0), result);
  d.out.s[0] = d.source(d.operand(1), type);
  d.out.s[1] = d.source(d.operand(2), type);
  if (d.operands() == 4 || size_bytes(result) != 4 || is_half(type) || is_half(result)) {
    return unusual_set(d, outcomes(relation), result, type);
  }
  d.out.s[2] = d.constant(result == Type::kF32 ? 0x3f800000U : 0xffffffffU, 4);
  with_comparable(d, type, [&]<class T>(T) {
    const auto full = comparison<T>(relation, []<class F>(F) {
      const auto value = [](T a, T b, u32 yes) { return F{}(a, b) ? yes : 0U; };
      return pick<Masked<decltype(value), u32, T, T, u32>>();
    });
    if (full == nullptr) d.reject("the comparison is not supported for this type");
    d.each(full);
  });
}

template <class T, bool masked>
struct Select {
  static void run(Context& c, const Instr& in) {
    const u32 chosen = c.predicate_source(in.s[2]) ^ (in.aux != 0 ? kAllLanes : 0U);
    go(chosen, c.mask, c.target<T>(in.d), c.source<T>(in.s[0]), c.source<T>(in.s[1]));
  }
  static void go(u32 chosen, u32 mask, T* d, const T* a, const T* b) {
#pragma GCC ivdep
    for (unsigned i = 0; i < kLanes; ++i) {
      const T value = ((chosen >> i) & 1U) != 0 ? a[i] : b[i];
      d[i] = !masked || ((mask >> i) & 1U) != 0 ? value : d[i];
    }
  }
};

void decode_selp(Decode& d) {
  const Type type = d.type();
  d.expect_operands(4, 4);
  d.out.d = d.destination(d.operand(0), type);
  d.out.s[0] = d.source(d.operand(1), type);
  d.out.s[1] = d.source(d.operand(2), type);
  bool negated = false;
  d.out.s[2] = d.predicate_source(d.operand(3), negated);
  d.out.aux = negated ? 1 : 0;
  const auto choose = [&]<class T>(T) {
    d.out.full = pick<Select<T, false>>();
    d.out.masked = pick<Select<T, true>>();
  };
  with_bits(d, type, choose);
}

template <class T, class C>
void select_by_sign(Decode& d) {
  d.lanes<T, T, T, C>([](T a, T b, C e) { return comparable(e) >= 0 ? a : b; });
}

void decode_slct(Decode& d) {
  const Type type = d.type();
  const Type by = d.type();
  d.plain_operands(type, {type, type, by});
  const auto choose = [&]<class T>(T) {
    if (by == Type::kS32) return select_by_sign<T, std::int32_t>(d);
    if (by != Type::kF32) d.reject("the type is not supported");
    // Flushing turns small negative values into −0, which is not less than zero.
    d.flag("ftz") ? select_by_sign<T, Flushed<float>>(d) : select_by_sign<T, float>(d);
  };
  with_bits(d, type, choose);
}

template <class T>
struct TestP {
  static void run(Context& c, const Instr& in) {
    const T* a = c.source<T>(in.s[0]);
    u32 bits = 0;
    for (unsigned i = 0; i < kLanes; ++i) {
      const bool kinds[] = {std::isfinite(a[i]),
                            std::isinf(a[i]),
                            !std::isnan(a[i]),
                            std::isnan(a[i]),
                            std::isnormal(a[i]) || a[i] == 0,
                            std::fpclassify(a[i]) == FP_SUBNORMAL};
      bits |= static_cast<u32>(kinds[in.aux]) << i;
    }
    c.set_predicate(in.d, bits);
  }
};

void decode_testp(Decode& d) {
  std::uint8_t kind = 0;
  for (const std::string_view name :
       {"finite", "infinite", "number", "notanumber", "normal", "subnormal"}) {
    if (d.flag(name)) break;
    ++kind;
  }
  if (kind == 6) d.reject("the test is not supported");
  const Type type = d.type();
  d.plain_operands(Type::kPred, {type});
  d.out.aux = kind;
  if (type != Type::kF32 && type != Type::kF64) d.reject("the type is not supported");
  d.each(type == Type::kF64 ? &TestP<double>::run : &TestP<float>::run);
}

constexpr OpcodeRow kRows[] = {
    {"setp", decode_setp}, {"set", decode_set},     {"selp", decode_selp},
    {"slct", decode_slct}, {"testp", decode_testp},
};

}  // namespace

std::span<const OpcodeRow> compare_opcodes() { return kRows; }

}  // namespace kbench::ptx
