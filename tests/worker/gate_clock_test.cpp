// SPDX-License-Identifier: MIT
#include "worker/timing/gate_clock.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

namespace kbench::worker {
namespace {

using std::chrono::milliseconds;

/// In place of a GPU that has queued a block: reads and writes the words in a mapping of its own.
class Queue {
 public:
  Queue(const GateClock& clock, std::uint32_t block, milliseconds switch_for, milliseconds run_for,
        bool completes = true)
      : words_(static_cast<protocol::GateWords*>(mmap(
            nullptr, protocol::kGatePageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, clock.fd(), 0))),
        thread_([=, this] {
          wait_for(words_->open, block);
          std::this_thread::sleep_for(switch_for);
          std::atomic_ref(words_->ready).store(block);
          wait_for(words_->start, block);
          std::this_thread::sleep_for(run_for);
          if (completes) std::atomic_ref(words_->done).store(block);
        }) {}
  ~Queue() {
    thread_.join();
    munmap(words_, protocol::kGatePageBytes);
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

 private:
  static void wait_for(std::uint32_t& word, std::uint32_t block) {
    while (std::atomic_ref(word).load() < block) std::this_thread::yield();
  }
  protocol::GateWords* words_;
  std::thread thread_;
};

TEST(GateClock, MeasuresTheSwitchAndTheCallsApart) {
  GateClock clock;
  const std::uint32_t block = clock.next_block();
  const Queue queue(clock, block, milliseconds(20), milliseconds(40));
  const auto times = clock.run(60'000);
  ASSERT_TRUE(times);
  EXPECT_GE(times->switch_ms, 20);
  EXPECT_GE(times->run_ms, 40);
}

TEST(GateClock, OpensTheGateIfTheCompletionWordIsMissing) {
  GateClock clock;
  const std::uint32_t block = clock.next_block();
  // The destructor waits until the gate lets the calls run.
  const Queue queue(clock, block, milliseconds(0), milliseconds(0), false);
  EXPECT_FALSE(clock.run(50));
}

TEST(GateClock, LetsCallsRunWithoutAClock) {
  GateClock clock;
  const std::uint32_t block = clock.next_block();
  clock.release();
  EXPECT_FALSE(clock.wait_done(1));
  const Queue queue(clock, block, milliseconds(0), milliseconds(0));
  EXPECT_TRUE(clock.wait_done(60'000));
}

std::atomic<std::uint32_t*> word_of_handler;

/// The completion word appears while the judge's thread is in a signal handler.
TEST(GateClock, SaysForHowLongItDidNotLook) {
  GateClock clock;
  const std::uint32_t block = clock.next_block();
  auto* const words = static_cast<protocol::GateWords*>(
      mmap(nullptr, protocol::kGatePageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, clock.fd(), 0));
  word_of_handler = &words->done;
  std::signal(SIGUSR1, [](int) {
    timespec left{.tv_sec = 0, .tv_nsec = 30'000'000};
    nanosleep(&left, nullptr);
    std::uint32_t* const word = word_of_handler;
    std::atomic_ref(*word).store(1);
  });
  const pthread_t judge = pthread_self();
  std::thread gpu([&] {
    std::atomic_ref(words->ready).store(block);
    while (std::atomic_ref(words->start).load() != block) std::this_thread::yield();
    pthread_kill(judge, SIGUSR1);
  });
  const auto times = clock.run(60'000);
  gpu.join();
  std::signal(SIGUSR1, SIG_DFL);
  munmap(words, protocol::kGatePageBytes);
  ASSERT_TRUE(times);
  EXPECT_GE(times->blind_ms, 30);
}

constexpr GateCosts kCosts{.switch_ms = 0.15, .empty_ms = 0.005, .start_ms = 0.2};

TEST(GatedMs, LeavesOutTheKnownCosts) {
  EXPECT_NEAR(gated_ms({.times = {.switch_ms = 0.155, .run_ms = 4.005}, .start_ms = 0.25}, kCosts),
              4, 1e-9);
  EXPECT_EQ(gated_ms({.times = {.switch_ms = 0.1, .run_ms = 0.004}, .start_ms = 0.1}, kCosts), 0);
}

TEST(GatedMs, CountsWorkThatHidesBeforeTheStartOrAfterTheCompletionWord) {
  EXPECT_NEAR(gated_ms({.times = {.switch_ms = 1.15, .run_ms = 0.005}, .start_ms = 0.2}, kCosts), 1,
              1e-9);
  EXPECT_NEAR(gated_ms({.times = {.switch_ms = 0.15, .run_ms = 0.005}, .start_ms = 2.2}, kCosts), 2,
              1e-9);
}

TEST(LateEnd, IsCountedIfMostBlocksEndLate) {
  const std::vector<double> usual{0.149, 0.15, 0.156};
  EXPECT_EQ(late_end_ms({0.15, 0.155, 0.158}, usual, 0.1), 0);
  EXPECT_NEAR(late_end_ms({0.18, 0.19, 0.15}, usual, 0.1), 0.03, 1e-9);
  EXPECT_EQ(late_end_ms({0.18, 0.19, 0.15}, usual, 8), 0) << "of a long block it is little";
  EXPECT_EQ(late_end_ms({1.2, 1.2, 1.2}, usual, 0.1), 0) << "GatedMs counts it in each block";
}

}  // namespace
}  // namespace kbench::worker
