// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kbench/error.hpp"
#include "kbench/run_file.hpp"
#include "record/run_samples.hpp"

namespace kbench {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

TEST(Patterns, StarsStandForAnyTextAndQuestionMarksForOneCharacter) {
  EXPECT_TRUE(matches_pattern("", ""));
  EXPECT_TRUE(matches_pattern("*", ""));
  EXPECT_TRUE(matches_pattern("level1/*", "level1/19_ReLU"));
  EXPECT_TRUE(matches_pattern("*ReLU", "level1/19_ReLU"));
  EXPECT_TRUE(matches_pattern("*1*_?e*U", "level1/19_ReLU"));
  EXPECT_TRUE(matches_pattern("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(matches_pattern("a*b*c", "aXcYb"));
  EXPECT_FALSE(matches_pattern("level1", "level1/19_ReLU"));
  EXPECT_FALSE(matches_pattern("?", ""));
  EXPECT_FALSE(matches_pattern("relu", "ReLU"));
  // What costs some matchers a lifetime.
  EXPECT_FALSE(matches_pattern(std::string(200, '*') + "x", std::string(20000, 'a')));
}

RunFile run() {
  RunFile run;
  for (const char* model : {"alpha", "beta"}) {
    for (const char* problem : {"level1/1_A", "level2/2_B"}) {
      for (int sample = 0; sample < 2; ++sample) {
        const int level = problem[5] - '0';
        run.manifest.push_back({.problem = problem,
                                .level = level,
                                .model = model,
                                .sample = sample,
                                .tags = {level == 1 ? "reduction" : "product"}});
        Record record = sample == 0 ? samples::correct(model, problem, 0)
                                    : samples::mismatch(model, problem, 1);
        record.level = level;
        run.records.push_back(record);
      }
    }
  }
  return run;
}

Selection selection(std::vector<const char*> arguments) {
  Selection chosen;
  for (const char* argument : arguments) chosen.add(argument);
  return chosen;
}

TEST(Select, WhatLeavesNothingIsToldWhatItMayHaveMeant) {
  const auto choose = [](const char* argument) {
    RunFile of = run();
    selection({argument}).choose_from(of, "a.jsonl");
  };
  EXPECT_THAT([&] { choose("model=alhpa"); },
              ThrowsMessage<UsageError>(HasSubstr(
                  "--select model=alhpa matches nothing in a.jsonl; did you mean alpha?")));
  EXPECT_THAT([&] { choose("problem=1_B"); }, ThrowsMessage<UsageError>(HasSubstr("did you mean")));
  EXPECT_THAT([&] { choose("tag=reducton"); },
              ThrowsMessage<UsageError>(HasSubstr("did you mean reduction?")));
  EXPECT_NO_THROW(choose("model=alpha"));
  EXPECT_EQ(selection({"cause=value"}).likely(run()), "; did you mean values?");
  EXPECT_EQ(selection({"outcome=crash"}).likely(run()), "") << "there is such an outcome";
  RunFile nothing;
  EXPECT_NO_THROW(selection({"model=alpha"}).choose_from(nothing, "a run without a manifest"));
}

TEST(Select, ConditionsOnThePlanTakeTheRestOffTheRun) {
  const auto left = [](std::vector<const char*> arguments) {
    RunFile chosen = run();
    selection(std::move(arguments)).apply(chosen);
    EXPECT_EQ(chosen.manifest.size(), chosen.records.size());
    return chosen.manifest.size();
  };
  EXPECT_EQ(left({}), 8u);
  EXPECT_EQ(left({"level=1"}), 4u);
  EXPECT_EQ(left({"level=1,2"}), 8u);
  EXPECT_EQ(left({"level!=1"}), 4u);
  EXPECT_EQ(left({"model=al*", "sample=0"}), 2u);
  EXPECT_EQ(left({"problem=1_A"}), 4u) << "its last part names a problem";
  EXPECT_EQ(left({"problem=level2/*"}), 4u);
  EXPECT_EQ(left({"tag=product"}), 4u);
  EXPECT_EQ(left({"outcome=correct"}), 8u) << "what came out takes nothing off the plan";
  EXPECT_EQ(left({"level=3"}), 0u);
}

TEST(Select, ConditionsOnWhatCameOutChooseWhatIsListed) {
  const RunFile all = run();
  const auto listed = [&](std::vector<const char*> arguments) {
    const Selection chosen = selection(std::move(arguments));
    return std::ranges::count_if(all.records,
                                 [&](const Record& record) { return chosen.lists(record); });
  };
  EXPECT_EQ(listed({"outcome=correct"}), 4);
  EXPECT_EQ(listed({"outcome!=correct"}), 4);
  EXPECT_EQ(listed({"outcome=mis*,crash"}), 4);
  EXPECT_EQ(listed({"cause=values"}), 4);
  EXPECT_EQ(listed({"flag=nondeterministic_bits"}), 4);
  EXPECT_EQ(listed({"trust=own_clock", "class=own", "kind=kernel"}), 4);
  EXPECT_EQ(listed({"level=1"}), 8) << "that is the plan's";
  EXPECT_TRUE(selection({"outcome=correct"}).lists_some());
  EXPECT_FALSE(selection({"level=1"}).lists_some());
  EXPECT_EQ(selection({"level=1", "outcome!=correct"}).text(), "level=1 outcome!=correct");
}

TEST(Select, NonsenseIsAUsageError) {
  for (const char* argument : {"", "level", "level=", "=1", "!=1", "speed=1", "outcome=right"})
    EXPECT_THROW(selection({argument}), UsageError) << argument;
  EXPECT_THAT([] { selection({"colour=red"}); },
              ThrowsMessage<UsageError>(HasSubstr("there are problem, level, model")));
}

}  // namespace
}  // namespace kbench
