// SPDX-License-Identifier: MIT
#include "run/process/device_turns.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

namespace kbench::run {
namespace {

using namespace std::chrono_literals;

constexpr auto kMoment = 50ms;

/// Runs `step` elsewhere; whether it has ended within a moment.
class Elsewhere {
 public:
  template <typename Step>
  explicit Elsewhere(Step step) : done_(std::async(std::launch::async, std::move(step))) {}
  bool ended() { return done_.wait_for(kMoment) == std::future_status::ready; }
  void join() { done_.get(); }

 private:
  std::future<void> done_;
};

TEST(DeviceTurns, SeveralWorkAndOneTimesAlone) {
  DeviceTurns turns;
  std::atomic<int> working = 0, timing = 0, broken = 0, most = 0, timed = 0;
  std::vector<std::thread> device_queues;
  for (int i = 0; i < 4; ++i)
    device_queues.emplace_back([&] {
      QueueTurn turn(turns);
      for (int round = 0; round < 200; ++round) {
        turn.work();
        const int now = ++working;
        int seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
        if (timing > 0) ++broken;
        std::this_thread::sleep_for(20us);
        --working;
        turn.time();
        if (++timing != 1 || working > 0) ++broken;
        ++timed;
        --timing;
        turn.rest();
      }
    });
  for (auto& device_queue : device_queues) device_queue.join();
  EXPECT_EQ(broken, 0);
  EXPECT_EQ(timed, 800);
  EXPECT_GT(most, 1);
}

TEST(DeviceTurns, WhoeverWantsToTimeComesBeforeNewWork) {
  DeviceTurns turns;
  QueueTurn first(turns);
  first.work();
  std::promise<void> times_enough;
  std::atomic<bool> timing = false;
  Elsewhere timer([&] {
    QueueTurn turn(turns);
    turn.time();
    timing = true;
    times_enough.get_future().wait();
  });
  EXPECT_FALSE(timer.ended());
  EXPECT_FALSE(timing);
  std::atomic<bool> worked = false;
  Elsewhere worker([&] {
    QueueTurn turn(turns);
    turn.work();
    worked = true;
  });
  EXPECT_FALSE(worker.ended());
  first.rest();
  EXPECT_FALSE(worker.ended());
  EXPECT_TRUE(timing);
  times_enough.set_value();
  timer.join();
  worker.join();
  EXPECT_TRUE(worked);
}

TEST(DeviceTurns, ALargeProblemHasTheMemoryToItself) {
  DeviceTurns turns;
  QueueTurn first(turns), second(turns);
  first.take_memory(false);
  second.take_memory(false);
  EXPECT_FALSE(first.memory_is_wanted());
  std::promise<void> done;
  Elsewhere large([&] {
    QueueTurn turn(turns);
    turn.take_memory(true);
    EXPECT_TRUE(turn.has_memory(true));
    done.get_future().wait();
  });
  EXPECT_FALSE(large.ended());
  EXPECT_TRUE(first.memory_is_wanted());
  first.give_memory();
  // Nobody overtakes it, or it would wait for ever.
  Elsewhere small([&] { first.take_memory(false); });
  EXPECT_FALSE(small.ended());
  second.give_memory();
  EXPECT_FALSE(small.ended());
  done.set_value();
  large.join();
  small.join();
  EXPECT_TRUE(first.has_memory(false));
}

TEST(DeviceTurns, ADeviceQueueThatEndsHoldsNothing) {
  DeviceTurns turns;
  {
    QueueTurn turn(turns);
    turn.take_memory(true);
    turn.work();
  }
  QueueTurn turn(turns);
  turn.take_memory(true);
  turn.time();
  EXPECT_TRUE(turn.is_timing());
}

}  // namespace
}  // namespace kbench::run
