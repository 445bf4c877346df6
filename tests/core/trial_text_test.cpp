// SPDX-License-Identifier: MIT
#include "core/trial_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/run_samples.hpp"

namespace kbench {
namespace {

using nlohmann::json;

json trial(int number, double error, json allclose_at, json first_wrong = nullptr) {
  return {{"trial", number},
          {"family", "drawn \" ]}, [{\\"},
          {"sizes", nullptr},
          {"max_abs_error", error},
          {"max_rel_error", nullptr},
          {"error_ratio", nullptr},
          {"allclose_at", allclose_at},
          {"wrong_elements", 0},
          {"first_wrong", first_wrong}};
}

json record_with(json trials) {
  json line = to_json(samples::correct());
  line["correctness"] = std::move(trials);
  line["message"] = "\"correctness\" [{";
  return line;
}

TEST(TrialText, OneTrialIsLeftAndTheRestOfTheLineIsTheSame) {
  for (const json& trials :
       {json::array(), json::array({trial(0, 1e-7, 1e-6)}),
        json::array({trial(0, 1e-7, 1e-6), trial(1, 3e-7, 2e-6), trial(2, 2e-7, 3e-6)})}) {
    const json line = record_with(trials);
    const auto condensed = condense_trials(line.dump());
    ASSERT_TRUE(condensed);
    json expected = line;
    if (trials.size() == 3) expected["correctness"] = json::array({trials[1]});
    EXPECT_EQ(json::parse(condensed->text), expected);
    EXPECT_EQ(condensed->allclose_at.has_value(), !trials.empty());
    EXPECT_FALSE(condensed->any_never);
  }
}

TEST(TrialText, TheFirstThatIsWrongIsShownWhateverTheErrors) {
  const json wrong = {{"output", 0}, {"index", {1, 2}}, {"expected", "1"}, {"got", "]}"}};
  const json line = record_with(
      {trial(0, 9.0, 0.5), trial(1, 0.25, nullptr, wrong), trial(2, 0.5, nullptr, wrong)});
  const auto condensed = condense_trials(line.dump());
  ASSERT_TRUE(condensed);
  EXPECT_EQ(json::parse(condensed->text)["correctness"], json::array({line["correctness"][1]}));
  EXPECT_TRUE(condensed->any_never);
}

TEST(TrialText, TheToleranceIsTheLargest) {
  const json line = record_with({trial(0, 1, 0.25), trial(1, 0.5, 1e-3)});
  EXPECT_EQ(condense_trials(line.dump())->allclose_at, 0.25);
  // As Python writes it.
  std::string spaced = line.dump();
  for (std::size_t at = 0; (at = spaced.find("\":", at)) != std::string::npos; at += 3)
    spaced.insert(at + 2, " ");
  ASSERT_EQ(json::parse(spaced), line);
  EXPECT_EQ(condense_trials(spaced)->allclose_at, 0.25);
}

TEST(TrialText, WhatIsCutOffOrNoRecordIsLeftToTheParser) {
  const std::string line = record_with({trial(0, 1, 0.25), trial(1, 2, 0.5)}).dump();
  for (std::size_t length = 0; length < line.size(); ++length) {
    // Wherever it is cut: what comes out is no JSON either, so the line is known to be cut off.
    const auto condensed = condense_trials(std::string_view(line).substr(0, length));
    EXPECT_TRUE(!condensed || json::parse(condensed->text, nullptr, false).is_discarded())
        << length;
  }
  EXPECT_FALSE(condense_trials(R"({"type":"run","options":{"correctness":[{"a":1},{"b":2}]}})"));
  EXPECT_FALSE(condense_trials(R"({"type":"record","correctness":null})"));
  EXPECT_FALSE(condense_trials(R"({"type":"record","correctness":[1,2]})"));
}

}  // namespace
}  // namespace kbench
