// SPDX-License-Identifier: MIT
// A lane against workers that misbehave: each candidate gets a record, and nothing hangs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <nlohmann/json.hpp>
#include <span>
#include <thread>

#include "kbench/error.hpp"
#include "run/fake_host.hpp"
#include "run/lane_bench.hpp"
#include "run/process/spare_pool.hpp"

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

TEST(Lane, TakesTheJudgesVerdict) {
  LaneBench bench("ok", "ok");
  const Record record = bench.judge();
  expect_correct(record);
  EXPECT_EQ(record.stage, Stage::kDone);
  EXPECT_THAT(record.flags, ElementsAre("public_seed"));
  EXPECT_GT(record.seconds, 0);
  EXPECT_EQ(bench.details.at("raw_ms").at("candidate").size(), 2u);
  EXPECT_EQ(bench.details.at("log"), "hello from the candidate\n");
}

TEST(Lane, WhatAModuleCompilesOrTunesInItsFirstCallHasTheTimeOfLoading) {
  LaneBench bench("ok", "ok");
  const auto builds_late = [&](const std::string& source, int built_ahead) {
    Prepared item = bench.prepared();
    item.module.emplace().kind = CandidateKind::kModule;
    item.module->module.source = source;
    std::promise<Scouted> scouted;
    Scouted found;
    found.builds.builds = static_cast<std::size_t>(built_ahead);
    scouted.set_value(found);
    item.scouted = scouted.get_future().share();
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

TEST(Lane, JudgesOneCandidateAfterAnother) {
  LaneBench bench("ok", "ok");
  for (int i = 0; i < 5; ++i) expect_correct(bench.judge());
  Prepared other = bench.prepared("2");
  expect_correct(bench.judge(other));
}

TEST(Lane, AJudgeTakesAnotherProblemWhereItMay) {
  for (const char* mode : {"one_judge", "one_problem_each"}) {
    LaneBench bench("ok", mode);
    for (const char* hash : {"1", "2", "2", "1"}) {
      Prepared item = bench.prepared(hash);
      expect_correct(bench.judge(item));
    }
  }
}

TEST(Lane, TakesNoTimesWhileAnotherLaneWorks) {
  LaneBench bench("ok", "ok");
  std::optional<LaneTurn> other(bench.turns);
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
  LaneBench bench("ok", GetParam(), "ok", true, -1, std::size_t{1} << 30, 2);
  for (int i = 0; i < 2; ++i) {
    const Record record = bench.judge();
    expect_correct(record);
    EXPECT_THAT(record.flags, ElementsAre("public_seed"));
  }
}

INSTANTIATE_TEST_SUITE_P(Lacks, SharedMemory,
                         testing::Values("out_of_shared_memory", "crash_in_shared",
                                         "does_not_fit_shared"));

TEST(Lane, ACrashWithMemoryLeftIsAVerdict) {
  LaneBench bench("ok", "crash_with_memory_left", "ok", true, -1, std::size_t{1} << 30, 2);
  const Record record = bench.judge();
  EXPECT_EQ(record.outcome, Outcome::kCrash);
  EXPECT_EQ(record.message, "evaluation 1");
}

TEST(Lane, AProblemsFailureIsNotTheCandidates) {
  LaneBench bench("ok", "fails_problem");
  for (int i = 0; i < 2; ++i) {
    const Record record = bench.judge();
    EXPECT_EQ(record.outcome, Outcome::kProblemFailure);
    EXPECT_EQ(record.cause, "import_failed");
    EXPECT_EQ(bench.details.at("problem_log"), "line 1");
  }
}

TEST(Lane, WhatFailsBesideACandidateIsOpenedWithoutIt) {
  LaneBench bench("ok", "fails_once");
  expect_correct(bench.judge());
}

class BadJudge : public testing::TestWithParam<const char*> {};

TEST_P(BadJudge, IsAHarnessFaultAndTheLaneGoesOn) {
  LaneBench bench("ok", GetParam());
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

TEST(Lane, AJudgeThatNeverAnswersAgainIsAHarnessFault) {
  LaneBench bench("ok", "never_answers_again");
  const Record record = bench.judge();
  expect_judge_died(record);
  EXPECT_THAT(record.message, HasSubstr("does not answer"));
}

TEST(Lane, AJudgeThatDiesOnceIsReplaced) {
  LaneBench bench("ok", "dies_once");
  expect_correct(bench.judge());
}

TEST(Lane, AZygoteThatDiesIsAHarnessFaultForAllThatFollow) {
  LaneBench bench("dies_on_fork", "ok");
  for (int i = 0; i < 3; ++i) expect_judge_died(bench.judge());
}

TEST(Lane, AVerdictStandsWhateverBecomesOfTheJudge) {
  for (const char* mode : {"crash_then_dies", "crash_then_silence", "crash_then_nonsense"}) {
    for (const bool gpu : {false, true}) {
      LaneBench bench("ok", mode, "ok", gpu);
      for (int i = 0; i < 2; ++i) {
        const Record record = bench.judge();
        EXPECT_EQ(record.outcome, Outcome::kCrash) << mode;
        EXPECT_EQ(record.cause, "illegal_address") << mode;
      }
    }
  }
}

TEST(Lane, ACandidateThatDiesGetsItsSignalNamed) {
  LaneBench bench("ok", "ok", "aborts");
  const Record record = bench.judge();
  EXPECT_EQ(record.outcome, Outcome::kCrash);
  EXPECT_EQ(record.cause, "signal");
  EXPECT_THAT(record.message, HasSubstr("Aborted"));
}

TEST(Lane, ACandidateThatExitsIsACrash) {
  LaneBench bench("ok", "ok", "exits");
  const Record record = bench.judge();
  EXPECT_EQ(record.outcome, Outcome::kCrash);
  EXPECT_EQ(record.cause, "process_died");
}

TEST(Lane, ACandidateOverItsMemoryIsOutOfMemory) {
  LaneBench bench("ok", "ok", "eats_memory", false, -1, std::size_t{100} << 20);
  const Record record = bench.judge();
  EXPECT_EQ(record.outcome, Outcome::kOutOfMemory);
  EXPECT_EQ(record.cause, "resident_limit");
  EXPECT_THAT(record.message, HasSubstr("more memory than their limit of 0.105 GB"));
}

TEST(Lane, ACandidateThatFloodsItsLogIsRejected) {
  LaneBench bench("ok", "ok", "floods");
  const Record record = bench.judge();
  EXPECT_EQ(record.outcome, Outcome::kRejected);
  EXPECT_EQ(record.cause, "too_much_output");
  const auto log = bench.details.at("log").get<std::string>();
  EXPECT_LE(log.size(), 1u << 20);
  EXPECT_THAT(log, StartsWith("xxxx"));
}

TEST(Lane, ACandidateThatKeepsTheJudgeWaitingIsKilledInTheEnd) {
  LaneBench bench("ok", "never_gives_a_verdict");
  const Record record = bench.judge();
  EXPECT_EQ(record.outcome, Outcome::kTimeout);
  EXPECT_EQ(record.cause, "verdict_limit");
}

TEST(Lane, CancellingEndsJudging) {
  for (const char* mode : {"never_answers", "never_answers_again"}) {
    const CancelSwitch cancel;
    LaneBench bench("ok", mode, "ok", false, cancel.fd());
    std::thread later([&] {
      std::this_thread::sleep_for(milliseconds(300));
      cancel.pull();
    });
    EXPECT_THROW(bench.judge(), Cancelled) << mode;
    later.join();
  }
}

TEST(Lane, ACompilerThatCannotRunIsAHarnessFaultOfThatCandidateAlone) {
  LaneBench bench("ok", "ok");
  Prepared item = without_compiler(bench);
  const Record record = bench.judge(item);
  EXPECT_EQ(record.outcome, Outcome::kHarnessFault);
  EXPECT_EQ(record.stage, Stage::kCompile);
  EXPECT_EQ(record.cause, "compiler_failed");
  EXPECT_EQ(record.message, "kbench-cc cannot be started");
  expect_correct(bench.judge());
}

TEST(Lane, WhatIsDecidedIsNotRun) {
  LaneBench bench("never_ready", "ok");
  Prepared item = bench.prepared();
  decide(item, Outcome::kRejected, Stage::kRoster, "empty", "no code");
  EXPECT_EQ(bench.judge(item).outcome, Outcome::kRejected);
}

}  // namespace
}  // namespace kbench::run
