// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

#include "ptx/parse/syntax.hpp"

/// Observers of a launch: counters and race checks. Without one, a launch pays only a pointer test
/// at memory instructions. With one, each access takes the slow path, resolve().
namespace kbench::ptx {

struct Context;
struct Instr;

enum class Access : std::uint8_t { kRead, kWrite, kAtomic };

/// Observes the part of a launch that one host thread runs.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;
  /// Called before an instruction runs, for the lanes of c.mask; its guard is not yet evaluated.
  virtual void instruction(Context& c, const Instr& in) = 0;
  /// Undoes the last instruction: it only waited for other lanes and will be repeated.
  virtual void undone(Context& c, const Instr& in) {
    static_cast<void>(c);
    static_cast<void>(in);
  }
  /// An allowed access of one lane. `address` is an offset in shared and local memory, a host
  /// address in global memory. Accesses to the shared memory of another block of the cluster are
  /// not reported.
  virtual void access(Context& c, const Instr& in, unsigned lane, Space space,
                      std::uint64_t address, std::uint64_t bytes, Access kind) = 0;
  /// Lanes of c.mask arrive at a barrier of the block; completes() precedes the release of its
  /// waiters.
  virtual void arrives(Context& c, unsigned id) {
    static_cast<void>(c);
    static_cast<void>(id);
  }
  virtual void completes(Context& c, unsigned id) {
    static_cast<void>(c);
    static_cast<void>(id);
  }
};

/// Combines two observers; either may be null. Null if both are.
std::unique_ptr<Observer> both(std::unique_ptr<Observer> first, std::unique_ptr<Observer> second);

/// State that an observer keeps for a block, as long as the block lives.
class BlockObservation {
 public:
  BlockObservation() = default;
  BlockObservation(const BlockObservation&) = delete;
  BlockObservation& operator=(const BlockObservation&) = delete;
  virtual ~BlockObservation() = default;
};

}  // namespace kbench::ptx
