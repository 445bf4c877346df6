// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <mutex>

namespace kbench::run {

/// What the lanes of one device agree on: several work at once (processes start, inputs are drawn,
/// outputs compared), times are taken one at a time while no lane works, and a problem that needs
/// much of the device's memory has it to itself. Thread-safe; waits end when the others let go.
class DeviceTurns {
 public:
  /// Waits until no lane times, or waits for it: whoever wants to time is not held up for long.
  void begin_work();
  void end_work();
  /// Waits until no other lane works or times. For a lane that does not work.
  void begin_timing();
  void end_timing();

  /// Waits until the memory is free: for one problem of any size, or for one more small one.
  void take_memory(bool alone);
  void give_memory(bool alone);
  /// Whether somebody waits for the other kind of it.
  bool memory_is_wanted();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int working_ = 0, waiting_to_time_ = 0;
  bool timing_ = false;
  int small_ = 0, waiting_for_small_ = 0, waiting_for_all_ = 0;
  bool all_taken_ = false;
};

/// One lane's share in it; what it holds is given back at the end, whatever happens. Each call
/// does nothing where that state is reached already.
class LaneTurn {
 public:
  explicit LaneTurn(DeviceTurns& turns) : turns_(turns) {}
  ~LaneTurn();
  LaneTurn(const LaneTurn&) = delete;
  LaneTurn& operator=(const LaneTurn&) = delete;

  void work();
  void time();
  void rest();
  bool is_timing() const { return state_ == State::kTiming; }

  /// Memory for a problem; the lane must hold none for another one, and not be at work.
  void take_memory(bool alone);
  void give_memory();
  bool memory_is_wanted() const { return turns_.memory_is_wanted(); }
  bool has_memory(bool alone) const { return memory_ == (alone ? Memory::kAll : Memory::kSmall); }

 private:
  enum class State { kResting, kWorking, kTiming };
  enum class Memory { kNone, kSmall, kAll };

  DeviceTurns& turns_;
  State state_ = State::kResting;
  Memory memory_ = Memory::kNone;
};

}  // namespace kbench::run
