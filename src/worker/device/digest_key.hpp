// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace kbench::worker {

/// Drawn by this process for its digests, and known to no other: who can write to inputs could else
/// repair with one word what it changed in the others. `step` is odd.
struct DigestKey {
  std::uint64_t flip, step;
};
const DigestKey& digest_key();

/// What word `i` adds to a digest. The judge's own kernels have the same (judge_kernels.cu).
inline std::uint64_t digest_part(std::uint64_t word, std::uint64_t i, const DigestKey& key) {
  std::uint64_t mixed = word ^ (key.flip + i * key.step);
  mixed = (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93u;
  mixed = (mixed ^ mixed >> 29) * 0x9e3779b97f4a7c15u;
  return mixed ^ mixed >> 32;
}

}  // namespace kbench::worker
