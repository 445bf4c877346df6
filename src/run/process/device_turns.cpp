// SPDX-License-Identifier: MIT
#include "run/process/device_turns.hpp"

namespace kbench::run {

void DeviceTurns::begin_work() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !timing_ && waiting_to_time_ == 0; });
  ++working_;
}

void DeviceTurns::end_work() {
  const std::lock_guard lock(mutex_);
  --working_;
  changed_.notify_all();
}

void DeviceTurns::begin_timing() {
  std::unique_lock lock(mutex_);
  ++waiting_to_time_;
  changed_.wait(lock, [this] { return !timing_ && working_ == 0; });
  --waiting_to_time_;
  timing_ = true;
}

void DeviceTurns::end_timing() {
  const std::lock_guard lock(mutex_);
  timing_ = false;
  changed_.notify_all();
}

void DeviceTurns::take_memory(bool alone) {
  std::unique_lock lock(mutex_);
  if (!alone) {
    ++waiting_for_small_;
    changed_.wait(lock, [this] { return !all_taken_ && waiting_for_all_ == 0; });
    --waiting_for_small_;
    ++small_;
    return;
  }
  ++waiting_for_all_;
  changed_.wait(lock, [this] { return !all_taken_ && small_ == 0; });
  --waiting_for_all_;
  all_taken_ = true;
}

void DeviceTurns::give_memory(bool alone) {
  const std::lock_guard lock(mutex_);
  if (alone)
    all_taken_ = false;
  else
    --small_;
  changed_.notify_all();
}

bool DeviceTurns::memory_is_wanted() {
  const std::lock_guard lock(mutex_);
  return all_taken_ ? waiting_for_small_ + waiting_for_all_ > 0 : waiting_for_all_ > 0;
}

QueueTurn::~QueueTurn() {
  rest();
  give_memory();
}

void QueueTurn::work() {
  if (state_ == State::kWorking) return;
  rest();
  turns_.begin_work();
  state_ = State::kWorking;
}

void QueueTurn::time() {
  if (state_ == State::kTiming) return;
  rest();
  turns_.begin_timing();
  state_ = State::kTiming;
}

void QueueTurn::rest() {
  if (state_ == State::kWorking) turns_.end_work();
  if (state_ == State::kTiming) turns_.end_timing();
  state_ = State::kResting;
}

void QueueTurn::take_memory(bool alone) {
  give_memory();
  turns_.take_memory(alone);
  memory_ = alone ? Memory::kAll : Memory::kSmall;
}

void QueueTurn::give_memory() {
  if (memory_ == Memory::kNone) return;
  turns_.give_memory(memory_ == Memory::kAll);
  memory_ = Memory::kNone;
}

}  // namespace kbench::run
