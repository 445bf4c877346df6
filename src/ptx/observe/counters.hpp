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

/// Counts what a launch executes and moves.
namespace kbench::ptx {

/// What one instruction counts as, by its text.
struct InstructionKind {
  InstructionClass instruction_class = InstructionClass::kInteger;
  FlopType flop_type = FlopType::kFp32;
  std::uint32_t flops = 0;         ///< of a thread
  std::uint32_t tensor_flops = 0;  ///< of a warp
};
InstructionKind classify(std::string_view text);

/// Which sectors of 32 bytes of the launch's memory were read, and which written. Thread-safe.
class SectorMap {
 public:
  SectorMap(const Program& program, std::span<const Region> regions);
  /// Notes a sector (address / 32); one that lies in no region is not noted.
  void touch(std::uint64_t sector, bool read, bool written);
  std::uint64_t read_bytes() const;
  std::uint64_t written_bytes() const;

 private:
  struct Stretch {
    std::uint64_t first = 0, count = 0;  ///< sectors
    std::vector<std::atomic<std::uint64_t>> read, written;
  };
  static std::uint64_t bytes_in(const std::vector<Stretch>& stretches,
                                std::vector<std::atomic<std::uint64_t>> Stretch::*bits);
  std::vector<Stretch> stretches_;  ///< by their first sector
};

/// The counters of one launch: host threads count apart, and their sums come together at the end.
class LaunchCounters {
 public:
  LaunchCounters(const Program& program, std::span<const Region> regions);
  ~LaunchCounters();
  /// The observer of one host thread; adds its counts when it is destroyed, before this.
  std::unique_ptr<Observer> observer();
  /// The sums of all observers that have been destroyed.
  Counters total() const;

 private:
  class Thread;
  SectorMap sectors_;
  std::unordered_map<const Function*, std::vector<InstructionKind>> kinds_;
  mutable std::mutex mutex_;
  Counters sum_;
};

}  // namespace kbench::ptx
