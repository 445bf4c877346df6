// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kbench::ptx::random {

/// What a row is about; each kernel prefers some of them.
enum class Group : std::uint8_t {
  kInteger,
  kBits,
  kCompare,
  kSingle,
  kDouble,
  kHalf,
  kConvert,
  kMove,
  kLoad,
  kStore,
  kMasked,     ///< needs the lanes of a known mask, and all of them
  kConverged,  ///< needs all lanes of the warp
};
constexpr std::size_t kGroups = 12;

/// A few instructions as text. `<a|b>` is one of the alternatives; $0, $1, … are the targets and
/// then the sources, by default appended; ?r, ?h, ?d, ?p are temporaries; #b is a byte, #n a small
/// number; `@` are addresses (see address.cpp), the mask @M and the bounds @C, @U of shuffles.
///
/// The signature has a letter per target, a space, and a letter per source: p predicate, h b16,
/// r b32, d b64, e f16, g bf16, E f16x2, G bf16x2, f f32, F f64. `!` at the end: no literals.
struct Row {
  std::string_view text, signature;
};

std::span<const Row> rows(Group group);

}  // namespace kbench::ptx::random
