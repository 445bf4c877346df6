// SPDX-License-Identifier: MIT
//
// Processor time of compilers: how it is counted, and whose turn it is to take some.
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "compile/budget.hpp"
#include "compile/compiler_turns.hpp"

namespace kbench {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

constexpr const char* kSpin = "while :; do :; done";

CommandResult run(CompileTime& time, const std::string& text) {
  return time.run({{"/bin/sh", "-c", text}, {}, {}}, {}, 1u << 16, -1);
}

TEST(CompileTime, CountsProcessorTimeOfAllThatACommandStarts) {
  // In a child of a child, beside one that has ended, and after one that was waited for.
  for (const std::string& text : {std::string(kSpin), "sh -c '" + std::string(kSpin) + "' & wait",
                                  "(sh -c '" + std::string(kSpin) + "'; true); true"}) {
    CompileTime time(milliseconds(500), nullptr);
    const auto start = Clock::now();
    EXPECT_TRUE(run(time, text).timed_out) << text;
    EXPECT_GE(Clock::now() - start, milliseconds(400)) << text;
    EXPECT_EQ(time.limit(), milliseconds(500));
  }
}

TEST(CompileTime, WhatIsWaitedForAtTheEndIsCountedToo) {
  CompileBudget budget(seconds(100));
  CompileTime time(seconds(50), &budget);
  const CommandResult result =
      run(time, "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'");
  EXPECT_FALSE(result.timed_out);
  rusage children{};
  getrusage(RUSAGE_CHILDREN, &children);
  const auto spent = budget.all() - budget.left();
  EXPECT_GT(spent, milliseconds(50));
  EXPECT_LE(spent, seconds(children.ru_utime.tv_sec + children.ru_stime.tv_sec + 2));
}

TEST(CompileTime, WaitingIsChargedATenth) {
  CompileBudget budget(seconds(10));
  CompileTime time(milliseconds(1500), &budget);
  EXPECT_FALSE(run(time, "sleep 2").timed_out) << "longer than the limit, by the clock";
  EXPECT_LT(budget.all() - budget.left(), milliseconds(500));
  CompileTime less(milliseconds(100), &budget);
  const auto start = Clock::now();
  EXPECT_TRUE(run(less, "sleep 100").timed_out) << "not for ever";
  EXPECT_LT(Clock::now() - start, seconds(20));
}

TEST(CompileTime, ABudgetEndsAllThatIsUnderWay) {
  CompileBudget budget(milliseconds(600));
  std::vector<std::thread> threads;
  std::atomic<int> timed_out = 0;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      CompileTime time(seconds(100), &budget);
      timed_out += run(time, kSpin).timed_out ? 1 : 0;
      EXPECT_EQ(time.limit(), milliseconds(600));
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(timed_out, 3);
  EXPECT_EQ(budget.left().count(), 0);
}

TEST(TurnQueue, ServesOwnersInTurn) {
  TurnQueue<std::string> queue;
  const int a = 0;
  const int b = 0;
  for (const char* text : {"a1", "a2", "a3"}) queue.push(&a, text);
  std::string order = queue.pop();
  queue.push(&b, "b1");
  queue.push(nullptr, "n1");
  queue.push(&b, "b2");
  queue.push(nullptr, "n2");
  while (!queue.empty()) order += " " + queue.pop();
  EXPECT_EQ(order, "a1 b1 n1 n2 a2 b2 a3");
}

TEST(CompilerTurn, OneThatIsAloneHasNobodyBesideIt) {
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::atomic<bool> disturbed = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i)
    threads.emplace_back([&, i] {
      const bool alone = i % 4 == 3;
      const CompilerTurn turn(alone ? CompilerTurn::Kind::kAlone : CompilerTurn::Kind::kWithOthers);
      const int now = ++running;
      if (now > most) most = now;
      std::this_thread::sleep_for(milliseconds(30));
      if (alone && (now != 1 || running != 1)) disturbed = true;
      --running;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_FALSE(disturbed);
  EXPECT_GT(most, 1);
}

TEST(CompilerTurn, EndlessSourcesTakeLittleTimeAlone) {
  int tries = 0;
  while (tries < 1000 && take_time_alone(seconds(5))) ++tries;
  EXPECT_LE(tries, 20);
  EXPECT_FALSE(take_time_alone(std::chrono::hours(1)));
}

/// As the pools have it: CompileError among the alternatives.
using Made = std::variant<int, CompileError>;

TEST(CompileInTime, TriesATimeoutOnceMoreForEachBudget) {
  CompileBudget budget(seconds(10));
  int calls = 0;
  const auto late = [&](CompileTime& time) -> Made {
    ++calls;
    run(time, "sleep 100");  // has_waited(), whatever other tests have taken
    return CompileError{"compile_timeout", "", "", 0, false, 1};
  };
  EXPECT_TRUE(
      std::holds_alternative<CompileError>(compile_in_time<Made>(milliseconds(20), &budget, late)));
  EXPECT_EQ(calls, 2);
  compile_in_time<Made>(milliseconds(20), &budget, late);
  EXPECT_EQ(calls, 3);
  compile_in_time<Made>(milliseconds(20), nullptr, late);
  EXPECT_EQ(calls, 5);
  budget.spend(seconds(20));
  const Made dropped = compile_in_time<Made>(milliseconds(20), &budget, late);
  EXPECT_EQ(calls, 5);
  EXPECT_EQ(std::get<CompileError>(dropped).cause, "compile_timeout");
  EXPECT_EQ(std::get<CompileError>(dropped).limit_s, 10);
}

}  // namespace
}  // namespace kbench
