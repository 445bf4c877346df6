// SPDX-License-Identifier: MIT
#include "kbench/record.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/run_samples.hpp"
#include "kbench/error.hpp"

namespace kbench {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Interned, EqualTextsAreOneAndDifferentOnesDiffer) {
  const Interned a = "level1/19_ReLU";
  const Interned b = std::string("level1/19_ReLU");
  EXPECT_EQ(a, b);
  EXPECT_EQ(&a.str(), &b.str());
  EXPECT_EQ(a, "level1/19_ReLU");
  EXPECT_NE(a, Interned("level1/20"));
  EXPECT_LT(a, Interned("level1/20"));
  EXPECT_GT(a, Interned());
  EXPECT_EQ(Interned(""), Interned());
  EXPECT_TRUE(Interned().empty());
  EXPECT_EQ(fmt::format("{:>16}", a), "  level1/19_ReLU");
  EXPECT_EQ(json(a), json("level1/19_ReLU"));
}

TEST(Interned, ThreadsThatMakeTheSameTextsAgree) {
  std::vector<std::vector<Interned>> made(4);
  std::vector<std::thread> threads;
  threads.reserve(made.size());
  for (auto& texts : made) {
    threads.emplace_back([&texts] {
      for (int i = 0; i < 1000; ++i) texts.emplace_back("text " + std::to_string(i));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& texts : made) EXPECT_EQ(texts, made[0]);
}

TEST(Record, EveryFieldSurvivesTheWayThroughJson) {
  for (const Record& record : {samples::correct(), samples::mismatch()}) {
    const json line = to_json(record);
    EXPECT_EQ(to_json(record_from_json(json::parse(line.dump()))), line);
  }
  const Record record = record_from_json(to_json(samples::mismatch()));
  ASSERT_TRUE(record.correctness.at(0).first_wrong);
  EXPECT_EQ(record.correctness[0].first_wrong->index, (std::vector<std::int64_t>{3, 17}));
  EXPECT_EQ(record.correctness[0].first_wrong->expected, "0.5");
  EXPECT_EQ(record.correct_at, Interned("fp16"));
}

TEST(Record, WhatIsNotFiniteIsWrittenAsNull) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  Record record = samples::correct();
  record.seconds = nan;
  record.correctness[0].max_abs_error = inf;
  record.timing->sides["candidate"].std_ms = nan;
  record.timing->sides["candidate"].clock_mhz = -inf;
  record.speedup[0].hi = inf;
  const json line = to_json(record);
  EXPECT_TRUE(line["seconds"].is_null());
  EXPECT_TRUE(line["correctness"][0]["max_abs_error"].is_null());
  EXPECT_TRUE(line["timing"]["sides"]["candidate"]["std_ms"].is_null());
  EXPECT_TRUE(line["timing"]["sides"]["candidate"]["clock_mhz"].is_null());
  EXPECT_TRUE(line["speedup"][0]["hi"].is_null());

  const Record read = record_from_json(line);
  EXPECT_TRUE(std::isnan(read.seconds));
  EXPECT_TRUE(std::isnan(read.speedup.at(0).hi));
  EXPECT_FALSE(read.correctness.at(0).max_abs_error);
}

TEST(Record, OnlyCorrectCarriesTimes) {
  Record record = samples::correct();
  record.outcome = Outcome::kMismatch;
  EXPECT_TRUE(to_json(record)["timing"].is_null());
  EXPECT_TRUE(to_json(record)["speedup"].empty());

  json forged = to_json(samples::correct());
  forged["outcome"] = "mismatch";
  EXPECT_THAT([&] { record_from_json(forged); },
              ThrowsMessage<Error>(HasSubstr("only \"correct\" may")));
}

TEST(Record, AMissingFieldIsNamedEachTime) {
  const json whole = to_json(samples::correct());
  for (const auto& [field, value] : whole.items()) {
    if (field == "type" || field == "correct_at" || field == "compile" || field == "timing" ||
        field == "details") {
      continue;  // optional ones, and the line's type, which its reader looks at
    }
    json line = whole;
    line.erase(field);
    EXPECT_THAT([&] { record_from_json(line); },
                ThrowsMessage<Error>(HasSubstr(fmt::format("\"{}\" is missing", field))));
  }
}

TEST(Record, AFieldOfAnotherTypeOrUnknownValueIsNamed) {
  const auto with = [](const char* field, json value) {
    json line = to_json(samples::correct());
    line[field] = std::move(value);
    return [line] { record_from_json(line); };
  };
  EXPECT_THAT(with("model", 3), ThrowsMessage<Error>(HasSubstr("\"model\" is not a string")));
  EXPECT_THAT(with("sample", 1.5), ThrowsMessage<Error>(HasSubstr("\"sample\" is not an integer")));
  EXPECT_THAT(with("level", 1ULL << 40),
              ThrowsMessage<Error>(HasSubstr("\"level\" is not an integer in range")));
  EXPECT_THAT(with("outcome", "fine"), ThrowsMessage<Error>(HasSubstr("unknown value \"fine\"")));
  EXPECT_THAT(with("stage", "end"), ThrowsMessage<Error>(HasSubstr("unknown value \"end\"")));
  EXPECT_THAT(with("flags", "x"), ThrowsMessage<Error>(HasSubstr("\"flags\" is not an array")));
  EXPECT_THAT(with("compile", json::array()), ThrowsMessage<Error>(HasSubstr("not an object")));
  EXPECT_THAT([] { record_from_json(json::array()); },
              ThrowsMessage<Error>(HasSubstr("not an object")));
}

TEST(Record, TheKeyChangesWithEachOfItsFieldsAndNoOther) {
  const Record base = samples::correct();
  const std::vector<std::function<void(Record&)>> in_key = {
      [](Record& r) { r.model = "other"; },
      [](Record& r) { r.problem = "other"; },
      [](Record& r) { r.sample = 7; },
      [](Record& r) { r.precision = "fp16"; },
      [](Record& r) { r.device = "cpu"; },
      [](Record& r) { r.torch = "2.6"; },
      [](Record& r) { r.problem_hash = "other"; },
      [](Record& r) { r.candidate_hash = "other"; },
      [](Record& r) { r.options_hash = "other"; },
      [](Record& r) { r.judge_hash = "other"; },
  };
  for (const auto& change : in_key) {
    Record record = base;
    change(record);
    EXPECT_NE(record_key(record), record_key(base));
    EXPECT_FALSE(same_key(record, base));
  }
  Record record = base;
  record.outcome = Outcome::kCrash;
  record.candidate = "elsewhere.cu";
  record.seconds = 99;
  EXPECT_EQ(record_key(record), record_key(base));
  EXPECT_TRUE(same_key(record, base));
}

}  // namespace
}  // namespace kbench
