// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kbench/ptx.hpp"

namespace kbench::ptx {

/// Generic addresses: global ones are host addresses; the other spaces have windows far above.
constexpr unsigned kWindowShift = 60;
constexpr std::uint64_t kSharedWindow = 1ULL << kWindowShift;
constexpr std::uint64_t kLocalWindow = 2ULL << kWindowShift;
constexpr std::uint64_t kParamWindow = 3ULL << kWindowShift;
constexpr std::uint64_t kFunctionWindow = 4ULL << kWindowShift;

/// Addresses in the shared memory of a block of the cluster: its rank plus one above this bit, the
/// offset below. Zero above stands for the block that uses the address.
constexpr unsigned kRankShift = 24;

/// One stretch of memory that kernels may touch.
struct Extent {
  std::uint64_t begin = ~std::uint64_t{0};
  std::uint64_t bytes = 0;
  std::uint64_t red_before = 0, red_after = 0;
  bool writable = false;
  std::string name;
  Written* written = nullptr;  ///< null: all of it counts as written
};

/// Verdict on one address.
struct Lookup {
  const Extent* extent = nullptr;  ///< where the access is allowed, else the nearest
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
  /// An extent that contains nothing.
  static const Extent& nowhere();

 private:
  std::vector<Extent> extents_;
};

}  // namespace kbench::ptx
