// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kbench/ptx.hpp"
#include "ptx/machine/machine.hpp"
#include "ptx/machine/observer.hpp"

/// Counts the instructions and transfers of a launch.
namespace kbench::ptx {

/// Class and operations of one instruction, derived from its text.
struct InstructionKind {
  InstructionClass instruction_class = InstructionClass::kInteger;
  FlopType flop_type = FlopType::kFp32;
  std::uint32_t flops = 0;         ///< per thread
  std::uint32_t tensor_flops = 0;  ///< per warp
};
InstructionKind classify(std::string_view text);

/// Sets of the 32-byte sectors that a launch read and wrote. Thread-safe.
class SectorMap {
 public:
  SectorMap(const Program& program, std::span<const Region> regions);
  /// Records a sector (address / 32); ignores one outside all regions.
  void touch(std::uint64_t sector, bool read, bool written);
  std::uint64_t read_bytes() const;
  std::uint64_t written_bytes() const;

 private:
  struct Stretch {
    std::uint64_t first = 0, count = 0;  ///< in sectors
    std::vector<std::atomic<std::uint64_t>> read, written;
  };
  static std::uint64_t bytes_in(const std::vector<Stretch>& stretches,
                                std::vector<std::atomic<std::uint64_t>> Stretch::*bits);
  std::vector<Stretch> stretches_;  ///< sorted by first sector
};

/// The counters of one launch. Host threads count separately, and their sums are added at the end.
class LaunchCounters {
 public:
  LaunchCounters(const Program& program, std::span<const Region> regions);
  ~LaunchCounters();
  /// Creates the observer of one host thread. Its destructor adds its counts, so it must not
  /// outlive this object.
  std::unique_ptr<Observer> observer();
  /// Sums of all destroyed observers.
  Counters total() const;

 private:
  class Thread;
  SectorMap sectors_;
  std::unordered_map<const Function*, std::vector<InstructionKind>> kinds_;
  mutable std::mutex mutex_;
  Counters sum_;
};

}  // namespace kbench::ptx
