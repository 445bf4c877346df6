// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstring>
#include <string_view>

#include "ptx/machine/lanes.hpp"
#include "ptx/parse/types.hpp"

/// Atomic read-modify-write operations on memory.
namespace kbench::ptx {

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

/// The new value. `a`: the operand; `b`: the second operand of cas.
template <Update update, class T>
T updated(T old, T a, [[maybe_unused]] T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if constexpr (update == Update::kMin) return min_number(old, a);
    if constexpr (update == Update::kMax) return max_number(old, a);
    return old + a;
  } else if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    if constexpr (update == Update::kAdd)
      return static_cast<T>(static_cast<U>(old) + static_cast<U>(a));
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
using WordOf = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

/// Addition of f32 flushes subnormals in global memory, but not in shared memory.
struct FlushedFloat {
  float value;
};
template <Update update>
inline FlushedFloat updated(FlushedFloat old, FlushedFloat a, FlushedFloat) {
  return {flush(flush(old.value) + flush(a.value))};
}

/// Applies `step` to the value as one atomic operation. `contended`: other host threads may change
/// the word at the same time.
template <class T, class Step>
void change(std::byte* at, bool contended, Step&& step) {
  using W = WordOf<T>;
  auto* word = reinterpret_cast<W*>(at);
  W before = __atomic_load_n(word, __ATOMIC_RELAXED);
  while (true) {
    T value = std::bit_cast<T>(before);
    step(value);
    const W after = std::bit_cast<W>(value);
    if (!contended) return __atomic_store_n(word, after, __ATOMIC_RELAXED);
    if (__atomic_compare_exchange_n(word, &before, after, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST)) {
      return;
    }
  }
}

/// Performs one lane's operation; returns the old value.
template <Update update, class T>
T exchange(std::byte* at, T a, T b, bool contended) {
  if constexpr (std::is_integral_v<T> && (update == Update::kAdd || update == Update::kExch)) {
    if (contended) {
      auto* word = reinterpret_cast<T*>(at);
      if constexpr (update == Update::kAdd) return __atomic_fetch_add(word, a, __ATOMIC_SEQ_CST);
      return __atomic_exchange_n(word, a, __ATOMIC_SEQ_CST);
    }
  }
  T old{};
  change<T>(at, contended, [&](T& value) {
    old = value;
    value = updated<update>(value, a, b);
  });
  return old;
}

template <Update update, class T>
constexpr bool exists() {
  constexpr bool kArithmetic =
      update == Update::kAdd || update == Update::kMin || update == Update::kMax;
  if constexpr (!std::is_integral_v<T>) return kArithmetic;
  if constexpr (sizeof(T) == 2) return update == Update::kCas || update == Update::kExch;
  if constexpr (update == Update::kInc || update == Update::kDec)
    return std::is_same_v<T, std::uint32_t>;
  return true;
}

/// Calls `visit.operator()<update, T>()` and returns its result; null if PTX lacks the operation.
template <class T, class Visit>
auto visit_update(Update update, Visit visit) {
  decltype(visit.template operator()<Update::kAdd, std::uint32_t>()) result = nullptr;
  const auto is = [&]<Update u>(std::integral_constant<Update, u>) {
    if constexpr (exists<u, T>()) {
      if (update == u) result = visit.template operator()<u, T>();
    }
  };
  const auto all = [&]<std::size_t... I>(std::index_sequence<I...>) {
    (is(std::integral_constant<Update, static_cast<Update>(I)>{}), ...);
  };
  all(std::make_index_sequence<std::size(kUpdates)>{});
  return result;
}

template <class Visit>
auto visit_atomic(Type type, Update update, Visit visit) {
  decltype(visit.template operator()<Update::kAdd, std::uint32_t>()) none = nullptr;
  const bool adds = update == Update::kAdd;
  switch (type) {
    case Type::kB16:
      return visit_update<std::uint16_t>(update, visit);
    case Type::kU32:
    case Type::kB32:
      return visit_update<std::uint32_t>(update, visit);
    case Type::kU64:
    case Type::kB64:
      return visit_update<std::uint64_t>(update, visit);
    case Type::kS32:
      return visit_update<std::int32_t>(update, visit);
    case Type::kS64:
      return visit_update<std::int64_t>(update, visit);
    case Type::kF32:
      return adds ? visit_update<float>(update, visit) : none;
    case Type::kF64:
      return adds ? visit_update<double>(update, visit) : none;
    case Type::kF16:
      return visit_update<Half>(update, visit);
    case Type::kBf16:
      return visit_update<Bfloat>(update, visit);
    case Type::kF16x2:
      return visit_update<Pair<Half>>(update, visit);
    case Type::kBf16x2:
      return visit_update<Pair<Bfloat>>(update, visit);
    default:
      return none;
  }
}

}  // namespace kbench::ptx
