// SPDX-License-Identifier: MIT
// A device queue against workers that misbehave: each candidate gets a record, and nothing hangs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>
#include <span>
#include <thread>

#include "kbench/error.hpp"
#include "run/fake_host.hpp"
#include "run/process/warm_pool.hpp"
#include "run/queue_bench.hpp"

namespace kbench::run {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

void expect_judge_died(const Record& record) {
  EXPECT_EQ(record.outcome, Outcome::kHarnessFault);
  EXPECT_EQ(record.cause, "judge_died");
  EXPECT_EQ(record.stage, Stage::kCorrectness);
  EXPECT_FALSE(record.message.empty());
  EXPECT_FALSE(record.timing);
}

TEST(DeviceQueue, TakesTheJudgesVerdict) {
  QueueBench bench("ok", "ok");
  const Record record = bench.judge();
  expect_correct(record);
  EXPECT_EQ(record.stage, Stage::kDone);
  EXPECT_THAT(record.flags, ElementsAre("public_seed"));
  EXPECT_GT(record.seconds, 0);
  EXPECT_EQ(bench.details.at("raw_ms").at("candidate").size(), 2u);
  EXPECT_EQ(bench.details.at("log"), "hello from the candidate\n");
}

TEST(DeviceQueue, WhatAModuleCompilesOrTunesInItsFirstCallHasTheTimeOfLoading) {
  QueueBench bench("ok", "ok");
  const auto builds_late = [&](const std::string& source, int built_ahead) {
    Prepared item = bench.prepared();
    item.module.emplace().kind = CandidateKind::kModule;
    item.module->module.source = source;
    std::promise<DryImported> dry_imported;
    DryImported found;
    found.builds.builds = static_cast<std::size_t>(built_ahead);
    dry_imported.set_value(found);
    item.dry_imported = dry_imported.get_future().share();
    const Record record = bench.judge(item);
    expect_correct(record);
    return std::ranges::find(record.flags, "builds_late") != record.flags.end();
  };
  EXPECT_FALSE(builds_late("import torch", 0));
  EXPECT_FALSE(builds_late("from torch.utils.cpp_extension import load_inline", 1));
  EXPECT_TRUE(builds_late("from torch.utils.cpp_extension import load_inline", 0));
  EXPECT_TRUE(builds_late("@torch.compile", 0));
  EXPECT_TRUE(builds_late("@triton.autotune(configs=configs, key=['n'])", 1));
}

TEST(DeviceQueue, JudgesOneCandidateAfterAnother) {
  QueueBench bench("ok", "ok");
  for (int i = 0; i < 5; ++i) expect_correct(bench.judge());
  Prepared other = bench.prepared("2");
  expect_correct(bench.judge(other));
}

TEST(DeviceQueue, AJudgeTakesAnotherProblemWhereItMay) {
  for (const char* mode : {"one_judge", "one_problem_each"}) {
    QueueBench bench("ok", mode);
    for (const char* hash : {"1", "2", "2", "1"}) {
      Prepared item = bench.prepared(hash);
      expect_correct(bench.judge(item));
    }
  }
}

TEST(DeviceQueue, TakesNoTimesWhileAnotherDeviceQueueWorks) {
  QueueBench bench("ok", "ok");
  std::optional<QueueTurn> other(bench.turns);
  other->work();
  auto judged = std::async(std::launch::async, [&] { return bench.judge(); });
  EXPECT_EQ(judged.wait_for(std::chrono::milliseconds(500)), std::future_status::timeout);
  other->rest();
  expect_correct(judged.get());
  // It has given back what it held.
  other->time();
}

class SharedMemory : public testing::TestWithParam<const char*> {};

TEST_P(SharedMemory, ThatDidNotSufficeIsNoVerdict) {
  QueueBench bench("ok", GetParam(), "ok", true, -1, std::size_t{1} << 30, 2);
  for (int i = 0; i < 2; ++i) {
    const Record record = bench.judge();
    expect_correct(record);
    EXPECT_THAT(record.flags, ElementsAre("public_seed"));
  }
}

INSTANTIATE_TEST_SUITE_P(Lacks, SharedMemory,
                         testing::Values("out_of_shared_memory", "crash_in_shared",
                                         "does_not_fit_shared"));

TEST(DeviceQueue, AfterAFailureOnTheCpuOneMoreCallLooksForRaces) {
  const Record record = QueueBench("ok", "mismatch_by_a_race").judge();
  EXPECT_EQ(record.outcome, Outcome::kMismatch);
  EXPECT_EQ(record.checked_again, "found");
  EXPECT_EQ(record.findings_count, 1u);
  const Record on_gpu = QueueBench("ok", "mismatch_by_a_race", "ok", true).judge();
  EXPECT_EQ(on_gpu.outcome, Outcome::kMismatch);
  EXPECT_TRUE(on_gpu.checked_again.empty());
}

TEST(DeviceQueue, ACrashWithMemoryLeftIsAVerdict) {
  QueueBench bench("ok", "crash_with_memory_left", "ok", true, -1, std::size_t{1} << 30, 2);
  const Record record = bench.judge();
  EXPECT_EQ(record.outcome, Outcome::kCrash);
  EXPECT_EQ(record.message, "evaluation 1");
}

TEST(DeviceQueue, AProblemsFailureIsNotTheCandidates) {
  QueueBench bench("ok", "fails_problem");
  for (int i = 0; i < 2; ++i) {
    const Record record = bench.judge();
    EXPECT_EQ(record.outcome, Outcome::kProblemFailure);
    EXPECT_EQ(record.cause, "import_failed");
    EXPECT_EQ(bench.details.at("problem_log"), "line 1");
  }
}

TEST(DeviceQueue, WhatFailsBesideACandidateIsOpenedWithoutIt) {
  QueueBench bench("ok", "fails_once");
  expect_correct(bench.judge());
}

class BadJudge : public testing::TestWithParam<const char*> {};

TEST_P(BadJudge, IsAHarnessFaultAndTheDeviceQueueGoesOn) {
  QueueBench bench("ok", GetParam());
  expect_judge_died(bench.judge());
  expect_judge_died(bench.judge());
}

INSTANTIATE_TEST_SUITE_P(Judges, BadJudge,
                         testing::Values("dies_on_problem", "hangs_up_on_problem", "never_answers",
                                         "answers_no_json", "answers_half", "dies_on_evaluate",
                                         "verdict_no_json", "verdict_empty", "verdict_out_of_turn",
                                         "verdict_unknown_outcome", "verdict_without_times",
                                         "verdict_mismatch_with_times", "verdict_of_garbage"),
                         [](const auto& test) { return std::string(test.param); });

TEST(DeviceQueue, AJudgeThatNeverAnswersAgainIsAHarnessFault) {
  QueueBench bench("ok", "never_answers_again");
  const Record record = bench.judge();
  expect_judge_died(record);
  EXPECT_THAT(record.message, HasSubstr("does not answer"));
}

TEST(DeviceQueue, AJudgeThatDiesOnceIsReplaced) {
  QueueBench bench("ok", "dies_once");
  expect_correct(bench.judge());
}

TEST(DeviceQueue, AForkServerThatDiesIsAHarnessFaultForAllThatFollow) {
  QueueBench bench("dies_on_fork", "ok");
  for (int i = 0; i < 3; ++i) expect_judge_died(bench.judge());
}

TEST(DeviceQueue, AVerdictStandsWhateverBecomesOfTheJudge) {
  for (const char* mode : {"crash_then_dies", "crash_then_silence", "crash_then_nonsense"}) {
    for (const bool gpu : {false, true}) {
      QueueBench bench("ok", mode, "ok", gpu);
      for (int i = 0; i < 2; ++i) {
        const Record record = bench.judge();
        EXPECT_EQ(record.outcome, Outcome::kCrash) << mode;
        EXPECT_EQ(record.cause, "illegal_address") << mode;
      }
    }
  }
}

TEST(DeviceQueue, ACandidateThatDiesGetsItsSignalNamed) {
  QueueBench bench("ok", "ok", "aborts");
  const Record record = bench.judge();
  EXPECT_EQ(record.outcome, Outcome::kCrash);
  EXPECT_EQ(record.cause, "signal");
  EXPECT_THAT(record.message, HasSubstr("Aborted"));
}

TEST(DeviceQueue, ACandidateThatExitsIsACrash) {
  QueueBench bench("ok", "ok", "exits");
  const Record record = bench.judge();
  EXPECT_EQ(record.outcome, Outcome::kCrash);
  EXPECT_EQ(record.cause, "process_died");
}

TEST(DeviceQueue, ACandidateOverItsMemoryIsOutOfMemory) {
  QueueBench bench("ok", "ok", "eats_memory", false, -1, std::size_t{100} << 20);
  const Record record = bench.judge();
  EXPECT_EQ(record.outcome, Outcome::kOutOfMemory);
  EXPECT_EQ(record.cause, "resident_limit");
  EXPECT_THAT(record.message, HasSubstr("more memory than their limit of 0.105 GB"));
}

TEST(DeviceQueue, ACandidateThatFloodsItsLogIsRejected) {
  QueueBench bench("ok", "ok", "floods");
  const Record record = bench.judge();
  EXPECT_EQ(record.outcome, Outcome::kRejected);
  EXPECT_EQ(record.cause, "too_much_output");
  const auto log = bench.details.at("log").get<std::string>();
  EXPECT_LE(log.size(), 1u << 20);
  EXPECT_THAT(log, StartsWith("xxxx"));
}

TEST(DeviceQueue, ACandidateThatKeepsTheJudgeWaitingIsKilledInTheEnd) {
  QueueBench bench("ok", "never_gives_a_verdict");
  const Record record = bench.judge();
  EXPECT_EQ(record.outcome, Outcome::kTimeout);
  EXPECT_EQ(record.cause, "verdict_limit");
}

TEST(DeviceQueue, CancellingEndsJudging) {
  for (const char* mode : {"never_answers", "never_answers_again"}) {
    const CancelSwitch cancel;
    QueueBench bench("ok", mode, "ok", false, cancel.fd());
    std::thread later([&] {
      std::this_thread::sleep_for(milliseconds(300));
      cancel.pull();
    });
    EXPECT_THROW(bench.judge(), Cancelled) << mode;
    later.join();
  }
}

TEST(DeviceQueue, ACompilerThatCannotRunIsAHarnessFaultOfThatCandidateAlone) {
  QueueBench bench("ok", "ok");
  Prepared item = without_compiler(bench);
  const Record record = bench.judge(item);
  EXPECT_EQ(record.outcome, Outcome::kHarnessFault);
  EXPECT_EQ(record.stage, Stage::kCompile);
  EXPECT_EQ(record.cause, "compiler_failed");
  EXPECT_EQ(record.message, "kbench-cc cannot be started");
  expect_correct(bench.judge());
}

TEST(DeviceQueue, WhatIsDecidedIsNotRun) {
  QueueBench bench("never_ready", "ok");
  Prepared item = bench.prepared();
  decide(item, Outcome::kRejected, Stage::kManifest, "empty", "no code");
  EXPECT_EQ(bench.judge(item).outcome, Outcome::kRejected);
}

}  // namespace
}  // namespace kbench::run
