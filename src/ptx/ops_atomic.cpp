// SPDX-License-Identifier: MIT
#include <cstring>

#include "ptx/access.hpp"
#include "ptx/decode.hpp"
#include "ptx/lanes.hpp"

namespace kbench::ptx {
namespace {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

enum class Update : std::uint8_t { kAdd, kMin, kMax, kAnd, kOr, kXor, kExch, kInc, kDec, kCas };

struct UpdateRow {
  std::string_view name;
  Update update;
};
constexpr UpdateRow kUpdates[] = {
    {"add", Update::kAdd}, {"min", Update::kMin}, {"max", Update::kMax},   {"and", Update::kAnd},
    {"or", Update::kOr},   {"xor", Update::kXor}, {"exch", Update::kExch}, {"inc", Update::kInc},
    {"dec", Update::kDec}, {"cas", Update::kCas},
};

/// What a value becomes; b is the second operand of cas.
template <Update update, class T>
T updated(T old, T a, [[maybe_unused]] T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if constexpr (update == Update::kMin) return min_number(old, a);
    if constexpr (update == Update::kMax) return max_number(old, a);
    return old + a;
  } else if constexpr (std::is_integral_v<T>) {
    if constexpr (update == Update::kAdd) return static_cast<T>(old + a);
    if constexpr (update == Update::kMin) return old < a ? old : a;
    if constexpr (update == Update::kMax) return old > a ? old : a;
    if constexpr (update == Update::kAnd) return old & a;
    if constexpr (update == Update::kOr) return old | a;
    if constexpr (update == Update::kXor) return old ^ a;
    if constexpr (update == Update::kExch) return a;
    if constexpr (update == Update::kInc) return old >= a ? T{0} : static_cast<T>(old + 1);
    if constexpr (update == Update::kDec) return old == 0 || old > a ? a : static_cast<T>(old - 1);
    return old == a ? b : old;
  } else if constexpr (requires { old.low; }) {
    return T{updated<update>(old.low, a.low, b.low), updated<update>(old.high, a.high, b.high)};
  } else {
    const float x = to_float(old), y = to_float(a);
    if constexpr (update == Update::kMin) return from_float<T>(min_number(x, y));
    if constexpr (update == Update::kMax) return from_float<T>(max_number(x, y));
    return from_float<T>(odd_fma(x, 1.0F, y));
  }
}

template <class T>
using WordOf =
    std::conditional_t<sizeof(T) == 2, u16, std::conditional_t<sizeof(T) == 4, u32, u64>>;

/// Addition of f32 to global memory flushes subnormals; to shared memory it does not.
struct FlushedFloat {
  float value;
};
template <Update update>
FlushedFloat updated(FlushedFloat old, FlushedFloat a, FlushedFloat) {
  return {flush(flush(old.value) + flush(a.value))};
}

bool in_shared(Space space, u64 address) {
  return space == Space::kShared ||
         (space == Space::kGeneric && address >> kWindowShift == kSharedWindow >> kWindowShift);
}

/// One lane's atomic: other host threads may change the word at the same time.
template <Update update, class T>
T exchange(std::byte* at, T a, T b) {
  using W = WordOf<T>;
  auto* word = reinterpret_cast<W*>(at);
  W before = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (true) {
    const T old = std::bit_cast<T>(before);
    const W after = std::bit_cast<W>(updated<update>(old, a, b));
    if (__atomic_compare_exchange_n(word, &before, after, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST)) {
      return old;
    }
  }
}

template <Update update, class T>
void atomic(Context& c, const Instr& in) {
  Addresses at;
  addresses(c, in, at);
  if ((in.flags & kPolls) != 0) c.polled = true;
  const Space space = space_of(in);
  const T* a = c.source<T>(in.s[1]);
  const T* b = in.s[2] == kNone ? a : c.source<T>(in.s[2]);
  for (u32 left = c.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(left));
    std::byte* to = resolve(c, in, i, space, at[i], sizeof(T), Access::kAtomic);
    if (to == nullptr) return;
    T old{};
    if constexpr (std::is_same_v<T, float>) {
      old = in_shared(space, at[i])
                ? exchange<update>(to, a[i], b[i])
                : exchange<update>(to, FlushedFloat{a[i]}, FlushedFloat{b[i]}).value;
    } else {
      old = exchange<update>(to, a[i], b[i]);
    }
    if (in.d != kNone) c.target<T>(in.d)[i] = old;
  }
}

template <Update update, class T>
constexpr bool exists() {
  constexpr bool kArithmetic =
      update == Update::kAdd || update == Update::kMin || update == Update::kMax;
  if constexpr (!std::is_integral_v<T>) return kArithmetic;
  if constexpr (sizeof(T) == 2) return update == Update::kCas || update == Update::kExch;
  if constexpr (update == Update::kInc || update == Update::kDec) return std::is_same_v<T, u32>;
  return true;
}

template <class T>
Execute choose_update(Update update) {
  Execute execute = nullptr;
  const auto is = [&]<Update u>(std::integral_constant<Update, u>) {
    if constexpr (exists<u, T>()) {
      if (update == u) execute = &atomic<u, T>;
    }
  };
  const auto all = [&]<std::size_t... I>(std::index_sequence<I...>) {
    (is(std::integral_constant<Update, static_cast<Update>(I)>{}), ...);
  };
  all(std::make_index_sequence<10>{});
  return execute;
}

Execute choose_atomic(Type type, Update update) {
  switch (type) {
    case Type::kB16:
      return choose_update<u16>(update);
    case Type::kU32:
    case Type::kB32:
      return choose_update<u32>(update);
    case Type::kU64:
    case Type::kB64:
      return choose_update<u64>(update);
    case Type::kS32:
      return choose_update<s32>(update);
    case Type::kS64:
      return choose_update<s64>(update);
    case Type::kF32:
      return update == Update::kAdd ? choose_update<float>(update) : nullptr;
    case Type::kF64:
      return update == Update::kAdd ? choose_update<double>(update) : nullptr;
    case Type::kF16:
      return choose_update<Half>(update);
    case Type::kBf16:
      return choose_update<Bfloat>(update);
    case Type::kF16x2:
      return choose_update<Pair<Half>>(update);
    case Type::kBf16x2:
      return choose_update<Pair<Bfloat>>(update);
    default:
      return nullptr;
  }
}

Update take_update(Decode& d) {
  for (const UpdateRow& row : kUpdates) {
    if (d.flag(row.name)) return row.update;
  }
  d.reject("the operation is not supported");
}

template <bool returns>
void decode_atomic(Decode& d) {
  d.one_of({"relaxed", "acquire", "release", "acq_rel"});
  d.one_of({"cta", "gpu", "sys"});
  d.flag("noftz");
  const Space space = take_space(d);
  const Update update = take_update(d);
  const Type type = d.type();
  const std::size_t first = returns ? 1 : 0;
  const std::size_t count = update == Update::kCas ? 3 : 2;
  d.expect_operands(first + count, first + count);
  if (returns && d.operand(0).kind != Operand::Kind::kSink) {
    d.out.d = d.destination(d.operand(0), type);
  }
  decode_address(d, d.operand(first), space);
  d.out.s[1] = d.source(d.operand(first + 1), type);
  if (update == Update::kCas) d.out.s[2] = d.source(d.operand(first + 2), type);
  // What a lock or a flag is watched with; a counter is not.
  if (update == Update::kCas || update == Update::kExch || update == Update::kOr) {
    d.out.flags |= kPolls;
  }
  if (update == Update::kAdd && d.operand(first + 1).kind == Operand::Kind::kInteger &&
      d.operand(first + 1).bits == 0) {
    d.out.flags |= kPolls;
  }
  const Execute execute = choose_atomic(type, update);
  if (execute == nullptr) d.reject("the operation is not supported for this type");
  d.each(execute);
}

constexpr OpcodeRow kRows[] = {
    {"atom", decode_atomic<true>},
    {"red", decode_atomic<false>},
};

}  // namespace

std::span<const OpcodeRow> atomic_opcodes() { return kRows; }

}  // namespace kbench::ptx
