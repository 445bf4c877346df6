// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "ptx/machine/decode.hpp"

/// Maps PTX types to C++ types: each function calls f with a value of the matching type.
namespace kbench::ptx {

/// Picks the type of T… that has `bytes` bytes; if there is none, rejects with the reason `why`.
template <class... T, class F>
void with_size(Decode& d, unsigned bytes, F&& f, const char* why = "the type is not supported") {
  const auto is = [&](auto value) {
    if (bytes != sizeof(value)) return false;
    f(value);
    return true;
  };
  if (!(is(T{}) || ...)) d.reject(why);
}

/// Picks an unsigned type of 16 to 64 bits, for operations that ignore the sign.
template <class F>
void with_bits(Decode& d, Type type, F&& f) {
  with_size<std::uint16_t, std::uint32_t, std::uint64_t>(d, size_bytes(type), f);
}

/// Picks an integer type of 16 to 64 bits; .b types are unsigned.
template <class F>
void with_integer(Decode& d, Type type, F&& f) {
  switch (type) {
    case Type::kU16:
    case Type::kB16:
      return f(std::uint16_t{});
    case Type::kU32:
    case Type::kB32:
      return f(std::uint32_t{});
    case Type::kU64:
    case Type::kB64:
      return f(std::uint64_t{});
    case Type::kS16:
      return f(std::int16_t{});
    case Type::kS32:
      return f(std::int32_t{});
    case Type::kS64:
      return f(std::int64_t{});
    default:
      d.reject("the type is not supported");
  }
}

/// Calls f with two bools as types.
template <class F>
void with_bools(bool a, bool b, F f) {
  using Yes = std::true_type;
  using No = std::false_type;
  if (a) return b ? f(Yes{}, Yes{}) : f(Yes{}, No{});
  b ? f(No{}, Yes{}) : f(No{}, No{});
}

/// Decodes an operation f(a…) with `kSources` sources, all of the destination's type.
/// `kNumber`: the sign matters.
template <std::size_t kSources, bool kNumber, class F>
void one_type(Decode& d, Type type, F f) {
  const auto decode = [&]<std::size_t... I>(std::index_sequence<I...>) {
    d.plain_operands(type, {(static_cast<void>(I), type)...});
    const auto lanes = [&]<class T>(T) { d.lanes<T, std::enable_if_t<(I < kSources), T>...>(f); };
    if constexpr (kNumber)
      with_integer(d, type, lanes);
    else
      with_bits(d, type, lanes);
  };
  decode(std::make_index_sequence<kSources>{});
}

/// An operation of one type that ignores the sign.
template <std::size_t kSources, class F>
void bits_operation(Decode& d, Type type, F f) {
  one_type<kSources, false>(d, type, f);
}

/// An operation of one type on integers.
template <std::size_t kSources, class F>
void integer_operation(Decode& d, Type type, F f) {
  one_type<kSources, true>(d, type, f);
}

}  // namespace kbench::ptx
