// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace kbench::worker {

/// A secret key of this process for its digests. With the key, a candidate that can write to inputs
/// could change some words and restore the digest with another. `step` is odd.
struct DigestKey {
  std::uint64_t flip, step;
};
const DigestKey& digest_key();

/// The summand of word `i` in a digest. The judge's own kernels have the same function
/// (judge_kernels.cu).
inline std::uint64_t digest_part(std::uint64_t word, std::uint64_t i, const DigestKey& key) {
  std::uint64_t mixed = word ^ (key.flip + i * key.step);
  mixed = (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93u;
  mixed = (mixed ^ mixed >> 29) * 0x9e3779b97f4a7c15u;
  return mixed ^ mixed >> 32;
}

}  // namespace kbench::worker
