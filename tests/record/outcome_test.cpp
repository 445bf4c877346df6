// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstddef>
#include <set>

#include "kbench/record.hpp"

namespace kbench {
namespace {

TEST(Outcome, EveryRowStandsAtItsPlaceAndItsNameLeadsBack) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < outcomes().size(); ++i) {
    const OutcomeRow& row = outcomes()[i];
    EXPECT_EQ(static_cast<std::size_t>(row.outcome), i);
    EXPECT_EQ(to_string(row.outcome), row.name);
    EXPECT_EQ(outcome_from_name(row.name), row.outcome);
    EXPECT_FALSE(row.label.empty());
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
  EXPECT_EQ(static_cast<std::size_t>(Outcome::kHarnessFault) + 1, outcomes().size());
}

TEST(Outcome, OnlyProblemFailureAndHarnessFaultAreNotTheCandidates) {
  for (const OutcomeRow& row : outcomes()) {
    EXPECT_EQ(row.of_candidate,
              row.outcome != Outcome::kProblemFailure && row.outcome != Outcome::kHarnessFault)
        << row.name;
  }
}

TEST(Outcome, UnknownNamesAreNone) {
  EXPECT_FALSE(outcome_from_name("Correct"));
  EXPECT_FALSE(outcome_from_name(""));
  EXPECT_FALSE(stage_from_name("linking"));
}

TEST(Stage, NamesLeadBack) {
  for (const Stage stage : {Stage::kManifest, Stage::kCompile, Stage::kLoad, Stage::kCorrectness,
                            Stage::kTiming, Stage::kDone}) {
    EXPECT_EQ(stage_from_name(to_string(stage)), stage);
  }
}

}  // namespace
}  // namespace kbench
