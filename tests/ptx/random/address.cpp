// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <charconv>

#include "ptx/random/writer.hpp"

// Addresses that are always inside of what they belong to: an `@` and a letter for the section,
// then the bytes of the access.
//   i f F e g   the input: integers, f32, f64, f16, bf16
//   c q         arrays in constant memory: integers, f32
//   v           an array of the module in global memory: integers
//   l m         arrays in local memory: integers, f32
//   o           the thread's own memory: bytes of integers, or the letter of a kind
//   a           one of the counters that all threads share
namespace kbench::ptx::random {
namespace {

std::size_t number(std::string_view digits) {
  std::size_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::size_t own_offset(Rng& rng, std::string_view what) {
  switch (what[0]) {
    case 'f': {
      constexpr std::size_t kPlaces[] = {32, 36, 60};
      return rng.one_of(kPlaces);
    }
    case 'F':
      return 40;
    case 'E':
      return 48;
    case 'G':
      return 52;
    case 'e':
      return 56;
    case 'g':
      return 58;
    default: {
      const std::size_t bytes = number(what);
      return bytes * rng.below(static_cast<std::uint32_t>(32 / bytes));
    }
  }
}

}  // namespace

/// A 64-bit register with an offset below `section_bytes` that is a multiple of `bytes`.
std::string Writer::index(std::size_t bytes, std::size_t section_bytes) {
  const std::string low = fresh(Kind::kB32), wide = fresh(Kind::kB64);
  if (rng.chance(50)) {  // neighbours read neighbours
    line(fmt::format("mad.lo.u32 {}, %linear, {}, {}", low, bytes,
                     bytes * rng.below(static_cast<std::uint32_t>(section_bytes / bytes))));
  } else {
    const std::string from = source(Kind::kB32);
    line(fmt::format("mul.lo.u32 {}, {}, {}", low, from, bytes));
  }
  line(fmt::format("and.b32 {0}, {0}, {1}", low, (section_bytes - 1) & ~(bytes - 1)));
  line(fmt::format("cvt.u64.u32 {}, {}", wide, low));
  return wide;
}

std::string Writer::in_section(char letter, std::size_t bytes, bool generic) {
  std::size_t start = 0, section_bytes = kSectionBytes;
  std::string base = "%in";
  switch (letter) {
    case 'f':
      start = kFloats;
      break;
    case 'F':
      start = kDoubles;
      break;
    case 'e':
      start = kHalves;
      break;
    case 'g':
      start = kBfloats;
      break;
    case 'c':
    case 'q':
    case 'l':
    case 'm':
    case 'v': {
      const bool constant = letter == 'c' || letter == 'q', global = letter == 'v';
      section_bytes = constant || global ? 256 : 64;
      base = fresh(Kind::kB64);
      std::string array = "module_v";
      std::string_view space = "global";
      if (constant) {
        array = fmt::format("constant_{}", letter);
        space = "const";
      } else if (!global) {
        array = fmt::format("local_{}_{}", letter, name_);
        space = "local";
      }
      line(fmt::format("mov.u64 {}, {}", base, array));
      if (generic) line(fmt::format("cvta.{0}.u64 {1}, {1}", space, base));
      break;
    }
    default:
      start = kIntegers;
  }
  const std::string at = index(bytes, section_bytes);
  line(fmt::format("add.s64 {0}, {1}, {0}", at, base));
  return fmt::format("{}+{}", at, start);
}

std::string Writer::address(std::string_view spelled, bool generic) {
  const char letter = spelled[0];
  const std::string_view rest = spelled.substr(1);
  if (letter == 'a') return fmt::format("%counters+{}", 8 * number(rest));
  if (letter == 'o') {
    if (own_address_.empty()) own_address_ = fmt::format("%own+{}", own_offset(rng, rest));
    return own_address_;
  }
  return in_section(letter, number(rest), generic);
}

}  // namespace kbench::ptx::random
