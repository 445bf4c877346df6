// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

#include "ptx/parse/syntax.hpp"

/// What looks on while a launch runs: counters and race checks. A launch without one pays nothing
/// beyond a test of a pointer at memory instructions; one with it takes the slow way through each
/// access, which is resolve().
namespace kbench::ptx {

struct Context;
struct Instr;

enum class Access : std::uint8_t { kRead, kWrite, kAtomic };

/// Sees the part of a launch that one host thread runs.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;
  /// Before an instruction runs, for the lanes of c.mask; its guard is not yet looked at.
  virtual void instruction(Context& c, const Instr& in) = 0;
  /// That instruction has only waited for other lanes, and will be run again.
  virtual void undone(Context& c, const Instr& in) {
    static_cast<void>(c);
    static_cast<void>(in);
  }
  /// An allowed access of one lane. `address` is an offset in shared and local memory, and the
  /// host's own in global memory. Accesses to the shared memory of another block of the cluster are
  /// not shown.
  virtual void access(Context& c, const Instr& in, unsigned lane, Space space,
                      std::uint64_t address, std::uint64_t bytes, Access kind) = 0;
  /// Lanes of c.mask arrive at a barrier of the block; and before those go on that have.
  virtual void arrives(Context& c, unsigned id) {
    static_cast<void>(c);
    static_cast<void>(id);
  }
  virtual void completes(Context& c, unsigned id) {
    static_cast<void>(c);
    static_cast<void>(id);
  }
};

/// One observer that tells two; either may be null, and so is the result where both are.
std::unique_ptr<Observer> both(std::unique_ptr<Observer> first, std::unique_ptr<Observer> second);

/// What an observer knows of a block, for as long as the block lives.
class BlockObservation {
 public:
  BlockObservation() = default;
  BlockObservation(const BlockObservation&) = delete;
  BlockObservation& operator=(const BlockObservation&) = delete;
  virtual ~BlockObservation() = default;
};

}  // namespace kbench::ptx
