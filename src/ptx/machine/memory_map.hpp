// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kbench/ptx.hpp"

namespace kbench::ptx {

/// Generic addresses: global ones are host addresses; the other spaces have windows where a GPU may
/// have them, among a process's addresses: a kernel that looks at one is not to see an executor. No
/// host has memory there: systems place mappings from 0x7eff'0000'0000 on, thread sanitizer its
/// heap below 0x7c00'0000'0000.
constexpr unsigned kWindowShift = 32;
constexpr std::uint64_t kSharedWindow = 0x7c01ULL << kWindowShift;
constexpr std::uint64_t kLocalWindow = 0x7c02ULL << kWindowShift;
constexpr std::uint64_t kParamWindow = 0x7c03ULL << kWindowShift;
constexpr std::uint64_t kFunctionWindow = 0x7c04ULL << kWindowShift;

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
