// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

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

}  // namespace kbench::ptx
