// SPDX-License-Identifier: MIT
// A GPU's device queue against workers that misbehave: what is started, opened and kept ahead.
#include <gtest/gtest.h>

#include <span>
#include <thread>

#include "run/queue_bench.hpp"

namespace kbench::run {
namespace {

using std::chrono::milliseconds;

/// What is judged after an item.
std::vector<Prepared*> behind(std::span<Prepared> items, std::size_t index) {
  std::vector<Prepared*> following;
  following.reserve(items.size());
  for (Prepared& item : items.subspan(index + 1)) following.push_back(&item);
  return following;
}

TEST(GpuQueue, StartsTheNextCandidatesAndOpensTheNextProblemAhead) {
  QueueBench bench("ok", "ok", "ok", true);
  std::vector<Prepared> items;
  items.reserve(4);
  for (const char* hash : {"1", "1", "2", "2"}) items.push_back(bench.prepared(hash));
  for (std::size_t i = 0; i < items.size(); ++i)
    expect_correct(bench.judge(items[i], behind(items, i)));
}

TEST(GpuQueue, AJudgeIsToldForHowLongToMeasure) {
  const auto budget_s = [](bool gpu) {
    QueueBench bench("ok", "ok", "ok", gpu);
    bench.options().timing_budget_s = 0.125;
    expect_correct(bench.judge());
    return bench.details.at("phases_s").at("timing_budget").get<double>();
  };
  EXPECT_EQ(budget_s(true), 0.125);
  EXPECT_EQ(budget_s(false), 0) << "the CPU's times are no measure";
}

TEST(GpuQueue, AProblemThatCannotBeOpenedAheadIsOpenedInItsTurn) {
  QueueBench bench("ok", "fails_ahead", "ok", true, -1, std::size_t{1} << 30, 1, true);
  Prepared first = bench.prepared("1"), second = bench.prepared("2");
  expect_correct(bench.judge(first, {&second}));
  expect_correct(bench.judge(second));
}

TEST(GpuQueue, CancellingEndsADeviceQueueWhoseNextProblemIsBeingOpened) {
  const CancelSwitch cancel;
  QueueBench bench("ok", "never_opens_ahead", "ok", true, cancel.fd(), std::size_t{1} << 30, 1,
                   true);
  Prepared first = bench.prepared("1"), again = bench.prepared("1"), next = bench.prepared("2");
  expect_correct(bench.judge(first));
  std::this_thread::sleep_for(milliseconds(500));  // until a judge stands ready
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(300));
    cancel.pull();
  });
  EXPECT_THROW(bench.judge(again, {&next}), Cancelled);
  later.join();
  // And the device queue ends: it neither waits for what will not be judged, nor throws.
}

TEST(GpuQueue, WantOfMemoryBesideOthersIsLookedAtAgain) {
  enum class Company { kLoadedAhead, kEnding, kNone };
  for (const Company company : {Company::kLoadedAhead, Company::kEnding, Company::kNone}) {
    QueueBench bench("ok", "second_is_out_of_memory", "ok", true);
    Prepared first = bench.prepared(), second = bench.prepared();
    // Without times there are no processes of baselines, either.
    if (company == Company::kNone) bench.options().timing = "none";
    // Of a large problem no process lingers.
    if (company != Company::kEnding) first.needed_bytes = std::size_t{1} << 39;
    std::vector<Prepared*> following;
    if (company == Company::kLoadedAhead) following = {&second};
    expect_correct(bench.judge(first, following));
    EXPECT_EQ(bench.judge(second).outcome,
              company == Company::kNone ? Outcome::kOutOfMemory : Outcome::kCorrect);
  }
}

TEST(GpuQueue, ANextCandidateWithoutCodeDoesNotHarmTheCurrentOne) {
  QueueBench bench("ok", "ok", "ok", true);
  Prepared current = bench.prepared();
  Prepared next = without_compiler(bench);
  expect_correct(bench.judge(current, {&next}));
  EXPECT_EQ(bench.judge(next).cause, "compiler_failed");
  expect_correct(bench.judge());
}

TEST(Refill, AsksForMoreFromFewOnUntilThereAreEnough) {
  Refill refill(1, 4);
  for (const std::size_t there : {0, 1, 2, 3}) EXPECT_TRUE(refill.wants(there)) << there;
  for (const std::size_t there : {4, 3, 2}) EXPECT_FALSE(refill.wants(there)) << there;
  for (const std::size_t there : {1, 2, 3}) EXPECT_TRUE(refill.wants(there)) << there;
  EXPECT_FALSE(refill.wants(5));
}

/// Limits aside, all that a bench with warm processes needs.
QueueBench with_warm_processes(const char* judge, const char* candidate) {
  return {"ok", judge, candidate, true, -1, std::size_t{1} << 30, 1, true};
}

TEST(GpuQueue, RunsInProcessesThatStandReady) {
  auto bench = with_warm_processes("ok", "only_warm_processes");
  std::vector<Prepared> items;
  items.reserve(5);
  for (const char* hash : {"1", "1", "1", "2", "2"}) items.push_back(bench.prepared(hash));
  for (std::size_t i = 0; i < items.size(); ++i) {
    expect_correct(bench.judge(items[i], behind(items, i)));
    EXPECT_EQ(bench.details.at("log"), "hello from the candidate\n");
  }
}

TEST(GpuQueue, ACrashThatMayBeAWriteToAnInputIsLookedAtAgain) {
  struct Case {
    const char* cause;
    bool gpu;
    Outcome outcome;
  };
  for (const auto& [cause, gpu, outcome] :
       {Case{"illegal_address", true, Outcome::kIllegalWrite},
        Case{"misaligned_address", true, Outcome::kIllegalWrite},
        Case{"trap", true, Outcome::kIllegalWrite},
        Case{"cuda_error", true, Outcome::kIllegalWrite},
        Case{"forward_raised", true, Outcome::kIllegalWrite},
        Case{"invalid_launch", true, Outcome::kCrash},
        Case{"wrong_signature", true, Outcome::kCrash},
        Case{"illegal_address", false, Outcome::kCrash},
        Case{"cuda_error", false, Outcome::kCrash}}) {
    QueueBench bench("ok", std::string("crash_as_") + cause, "ok", gpu);
    Prepared item = bench.prepared();
    item.module.emplace().kind = CandidateKind::kModule;
    EXPECT_EQ(bench.judge(item).outcome, outcome) << cause << " " << gpu;
  }
}

TEST(GpuQueue, ItsProcessesSeeItsGpuAloneAsTheFirst) {
  for (const bool warm_processes : {false, true}) {
    QueueBench bench("ok", "tells_its_gpu", "tells_its_gpu", true, -1, std::size_t{1} << 30, 1,
                     warm_processes);
    std::vector<Prepared> items;
    items.reserve(3);
    for (const char* hash : {"1", "1", "2"}) items.push_back(bench.prepared(hash));
    for (std::size_t i = 0; i < items.size(); ++i) {
      const Record record = bench.judge(items[i], behind(items, i));
      EXPECT_EQ(record.message, "cuda:0 of GPU-2") << warm_processes;
      EXPECT_EQ(bench.details.at("log"), "cuda:0 of GPU-2\nhello from the candidate\n")
          << warm_processes;
    }
  }
}

TEST(GpuQueue, WhatLoadsSlowlyHoldsUpNobodyForLong) {
  auto bench = with_warm_processes("ok", "loads_slowly");
  std::vector<Prepared> items;
  items.reserve(4);
  for (int i = 0; i < 4; ++i) items.push_back(bench.prepared());
  for (std::size_t i = 0; i < items.size(); ++i) {
    expect_correct(bench.judge(items[i], behind(items, i)));
    EXPECT_LT(items[i].record.seconds, 5);
  }
}

TEST(GpuQueue, WarmProcessesThatFailDelayOnlyThemselves) {
  for (const char* mode : {"warm_process_dies", "warm_process_never_warms"}) {
    for (const bool judge : {true, false}) {
      auto bench = with_warm_processes(judge ? mode : "ok", judge ? "ok" : mode);
      Prepared item = bench.prepared();
      expect_correct(bench.judge(item));
    }
  }
}

}  // namespace
}  // namespace kbench::run
