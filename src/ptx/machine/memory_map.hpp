// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kbench/ptx.hpp"

namespace kbench::ptx {

/// Generic addresses. Global ones are host addresses. The other spaces have windows at addresses
/// that a GPU might use, so a kernel cannot detect the executor by them. The host has no mappings
/// there: systems map from 0x7eff'0000'0000 up, and thread sanitizer's heap is below
/// 0x7c00'0000'0000.
constexpr unsigned kWindowShift = 32;
constexpr std::uint64_t kSharedWindow = 0x7c01ULL << kWindowShift;
constexpr std::uint64_t kLocalWindow = 0x7c02ULL << kWindowShift;
constexpr std::uint64_t kParamWindow = 0x7c03ULL << kWindowShift;
constexpr std::uint64_t kFunctionWindow = 0x7c04ULL << kWindowShift;

/// An address in a cluster block's shared memory has that block's rank plus one above this bit, and
/// the offset below it. Zero above the bit means the block that uses the address.
constexpr unsigned kRankShift = 24;

/// A range of memory that kernels may access.
struct Extent {
  std::uint64_t begin = ~std::uint64_t{0};
  std::uint64_t bytes = 0;
  std::uint64_t red_before = 0, red_after = 0;
  bool writable = false;
  std::string name;
  Written* written = nullptr;  ///< null: all of it counts as written
};

/// Result of looking up one address.
struct Lookup {
  const Extent* extent = nullptr;  ///< the extent of an allowed access, else the nearest one
  FaultKind fault = FaultKind::kIllegalAddress;
  bool allowed = false;
};

/// All extents of a launch, sorted by address.
class MemoryMap {
 public:
  void add(Extent extent) { extents_.push_back(std::move(extent)); }
  /// Sorts; call once after the last add().
  void seal();
  Lookup find(std::uint64_t address, std::uint64_t bytes, bool write) const;
  /// An empty extent.
  static const Extent& nowhere();

 private:
  std::vector<Extent> extents_;
};

}  // namespace kbench::ptx
