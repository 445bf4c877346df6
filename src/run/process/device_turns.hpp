// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <mutex>

namespace kbench::run {

/// Access of several device queues to one device. Queues work in parallel: they start processes,
/// draw inputs, compare outputs. Only one queue takes times, while no other queue works. A problem
/// that needs much of the device's memory has the device to itself. Thread-safe. A queue waits
/// until the others release the device.
class DeviceTurns {
 public:
  /// Waits until no queue takes times or is waiting to. So a queue that is waiting to take times
  /// does not wait long.
  void begin_work();
  void end_work();
  /// Waits until no other queue works or takes times. The calling queue must not be working.
  void begin_timing();
  void end_timing();

  /// Waits for device memory: all of it (`alone`), or enough for another small problem.
  void take_memory(bool alone);
  void give_memory(bool alone);
  /// True if another queue waits until memory in use is released.
  bool memory_is_wanted();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int working_ = 0, waiting_to_time_ = 0;
  bool timing_ = false;
  int small_ = 0, waiting_for_small_ = 0, waiting_for_all_ = 0;
  bool all_taken_ = false;
};

/// One queue's access to the device. The destructor releases it. A call does nothing if the queue
/// is already in that state.
class QueueTurn {
 public:
  explicit QueueTurn(DeviceTurns& turns) : turns_(turns) {}
  ~QueueTurn();
  QueueTurn(const QueueTurn&) = delete;
  QueueTurn& operator=(const QueueTurn&) = delete;

  void work();
  void time();
  void rest();
  bool is_timing() const { return state_ == State::kTiming; }

  /// Takes memory for a problem. The queue must not be working; memory that it holds is released
  /// first.
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
