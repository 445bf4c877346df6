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

#include "kbench/error.hpp"
#include "record/run_samples.hpp"

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
  for (const Record& record : {samples::correct(), samples::mismatch(), samples::observed()}) {
    const json line = to_json(record);
    EXPECT_EQ(to_json(record_from_json(json::parse(line.dump()))), line);
  }
  const Record record = record_from_json(to_json(samples::mismatch()));
  ASSERT_TRUE(record.correctness.at(0).first_wrong);
  EXPECT_EQ(record.correctness[0].first_wrong->index, (std::vector<std::int64_t>{3, 17}));
  EXPECT_EQ(record.correctness[0].first_wrong->expected, "0.5");
  EXPECT_EQ(record.correct_at, Interned("fp16"));
}

TEST(Record, SizesSurviveTheWayThroughJsonAndMayBeMissing) {
  Record record = samples::correct();
  EXPECT_EQ(to_json(record).at("sizes"), json::object());
  EXPECT_EQ(to_json(record).at("reduced_sizes"), json());
  record.sizes = R"j({"dim":"(3, 4)","rows":"7"})j";
  record.reduced_sizes = ReducedSizes{1 << 20, 2e8, 3e9, 4e11, true};
  json line = to_json(record);
  EXPECT_EQ(line.at("sizes"), (json{{"rows", "7"}, {"dim", "(3, 4)"}}));
  const Record again = record_from_json(json::parse(line.dump()));
  EXPECT_EQ(again.sizes, record.sizes);
  ASSERT_TRUE(again.reduced_sizes);
  EXPECT_EQ(again.reduced_sizes->full_flops, 4e11);
  line.erase("sizes");
  line.erase("reduced_sizes");
  EXPECT_FALSE(record_from_json(line).reduced_sizes);
  line["sizes"] = {{"rows", 7}};
  EXPECT_THAT([&] { record_from_json(line); }, ThrowsMessage<Error>(HasSubstr("sizes")));
}

TEST(Record, FindingsAndProfilesSurviveTheWayThroughJson) {
  const Record record = record_from_json(json::parse(to_json(samples::observed()).dump()));
  ASSERT_EQ(record.findings.size(), 1u);
  EXPECT_EQ(record.findings[0].kind, "uninitialized_read");
  EXPECT_EQ(record.findings[0].block, (std::array<std::uint32_t, 3>{3, 0, 1}));
  EXPECT_EQ(record.findings[0].thread, (std::array<std::uint32_t, 3>{31, 2, 0}));
  EXPECT_EQ(record.findings[0].offset_bytes, 124);
  EXPECT_EQ(record.findings_count, 1u);
  ASSERT_EQ(record.profile.size(), 1u);
  const Counters& counters = record.profile[0].counters;
  EXPECT_EQ(executed(counters).warps, 4096u);
  EXPECT_EQ(executed(counters).threads, 125536u);
  EXPECT_EQ(total_flops(counters), 128192u);
  EXPECT_EQ(unique_bytes(counters), 262144u);
  EXPECT_EQ(sectors_per_request(counters), 4.0);
  EXPECT_EQ(counters.shared_conflicts, 31u);
  EXPECT_EQ(counters.shared_atomics, 7u);
  ASSERT_TRUE(record.estimate);
  EXPECT_EQ(record.estimate->reference_ms, 0.0075);
  EXPECT_NEAR(record.estimate->ratio().value(), 0.0075 / 0.0046, 1e-9);
}

TEST(Record, WhatExplainsAFailureSurvivesTheWayThroughJson) {
  Record record = samples::mismatch();
  EXPECT_FALSE(to_json(record).contains("checked_again"));
  EXPECT_FALSE(to_json(record).at("correctness").at(0).contains("wrong_pattern"));
  record.checked_again = "nothing_found";
  record.correctness[0].wrong_pattern = {
      .output = 1, .wrong = 3, .elements = 64, .where = "row 3", .values = "all nan"};
  const json line = to_json(record);
  const Record again = record_from_json(json::parse(line.dump()));
  EXPECT_EQ(to_json(again), line);
  EXPECT_EQ(again.checked_again, "nothing_found");
  ASSERT_TRUE(again.correctness[0].wrong_pattern);
  EXPECT_EQ(again.correctness[0].wrong_pattern->where, "row 3");
}

TEST(Record, ALineHoldsThreeFindingsAndTheCountOfAll) {
  Record record = samples::observed();
  record.findings.assign(5, record.findings[0]);
  record.findings_count = 5;
  const json line = to_json(record);
  EXPECT_EQ(line["findings"].size(), kRecordFindings);
  EXPECT_EQ(line["findings_count"], 5);
}

TEST(Record, LinesOfTheFirstMinorVersionHaveNoFindingsAndNoProfile) {
  json line = to_json(samples::observed());
  for (const char* field : {"findings", "findings_count", "profile", "estimate"}) line.erase(field);
  const Record record = record_from_json(line);
  EXPECT_TRUE(record.findings.empty());
  EXPECT_TRUE(record.profile.empty());
  EXPECT_FALSE(record.estimate);
}

TEST(Record, TimesOfCallsAloneAreBounds) {
  Record record = samples::correct();
  record.timing->trust = "bounded";
  EXPECT_TRUE(record.timing->is_bounded());
  record.timing->trust = "own_clock";
  EXPECT_FALSE(record.timing->is_bounded());
}

TEST(Record, UnconfirmedTimesOfOlderFilesAreBounds) {
  json line = to_json(samples::correct());
  line["timing"]["trust"] = "self_reported";
  EXPECT_FALSE(record_from_json(line).timing->is_bounded());
  line["timing"]["bounds"] = {{"candidate", {{"told_ms", 1.0}, {"bound_ms", 2.0}}}};
  EXPECT_TRUE(record_from_json(line).timing->is_bounded());
}

TEST(Record, LinesFromBeforeThereWereOtherJudgesAreKbenchs) {
  Record imported = samples::correct();
  imported.judge = kKernelBenchJudge;
  json line = to_json(imported);
  EXPECT_EQ(record_from_json(line).judge, kKernelBenchJudge);
  line.erase("judge");
  EXPECT_EQ(record_from_json(line).judge, kOwnJudge);
}

TEST(Record, SaysWhoseVerdictItTookOver) {
  Record record = samples::correct();
  EXPECT_TRUE(to_json(record).at("reused_from").is_null());
  record.reused_from = "alpha/0.cu";
  json line = to_json(record);
  EXPECT_EQ(record_from_json(line).reused_from, "alpha/0.cu");
  line.erase("reused_from");
  EXPECT_EQ(record_from_json(line).reused_from, "");
}

TEST(Record, SaysWhichTrivialAnswersPassTheCheckOfItsProblem) {
  using Names = std::vector<std::string>;
  Record record = samples::correct();
  EXPECT_TRUE(to_json(record).at("degenerate_problem").is_null());
  for (const Names& names : {Names{}, Names{"constant", "zeros"}}) {
    record.degenerate_problem = names;
    EXPECT_EQ(record_from_json(to_json(record)).degenerate_problem, names);
  }
  json line = to_json(record);
  line["degenerate_problem"] = "zeros";
  EXPECT_THROW(record_from_json(line), Error);
  line.erase("degenerate_problem");
  EXPECT_EQ(record_from_json(line).degenerate_problem, std::nullopt);
}

TEST(Record, WhoComputesNothingIsKnownOfKbenchsOwnJudgeAlone) {
  Record record = samples::correct();
  EXPECT_FALSE(computes_nothing(record));
  record.kernel_class = "none";
  EXPECT_TRUE(computes_nothing(record));
  record.judge = kCompatJudge;
  EXPECT_FALSE(computes_nothing(record));
}

TEST(Record, FaultyFindingsAndProfilesAreNamed) {
  const auto with = [](const char* field, const char* inner, const json& value) {
    json line = to_json(samples::observed());
    line[field][0][inner] = value;
    return line;
  };
  const auto fails = [](const json& line, const char* what) {
    EXPECT_THAT([&] { record_from_json(line); }, ThrowsMessage<Error>(HasSubstr(what)));
  };
  fails(with("findings", "block", json::array({1, 2})), "block");
  fails(with("findings", "thread", json::array({1, -2, 3})), "thread");
  fails(with("findings", "line", "seven"), "line");
  fails(with("profile", "grid", json::array({1, 2, "3"})), "grid");
  fails(with("profile", "instructions", {{"fp32", {1}}}), "fp32");
  fails(with("profile", "global", json::object()), "requests");
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

TEST(Record, SaysWhatASpeedupsIntervalMeans) {
  const auto relation = [](double value, double lo, double hi) {
    return relation_of({.baseline = "eager", .value = value, .lo = lo, .hi = hi});
  };
  EXPECT_EQ(relation(1.3, 1.2, 1.4), "faster");
  EXPECT_EQ(relation(1.01, 1.0051, 1.02), "faster");
  EXPECT_EQ(relation(1.01, 1.0049, 1.02), "same");
  EXPECT_EQ(relation(1.01, 1.0049, 1.0201), "ambiguous");
  EXPECT_EQ(relation(0.9, 0.8, 0.99), "slower");
  EXPECT_EQ(relation(1, 0.999, 1.001), "same");
  EXPECT_EQ(relation(1, 0.9, 1.1), "ambiguous");
  EXPECT_EQ(relation(1.1, 0.9, 1.4), "ambiguous");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(relation(1.3, nan, nan), "");
  EXPECT_EQ(to_json(samples::correct()).at("speedup").at(0).at("relation"), "faster");
}

TEST(Record, QuartilesOfOlderFilesAreNone) {
  Record record = samples::correct();
  record.timing->sides["candidate"].q1_ms = 0.5;
  record.timing->sides["candidate"].q3_ms = 0.75;
  record.timing->sides["candidate"].lo_ms = 0.625;
  record.timing->sides["candidate"].hi_ms = 0.6875;
  record.timing->sides["candidate"].wall_ms = 0.75;
  record.timing->sides["candidate"].span_ms = 0.5625;
  record.timing->sides["candidate"].busy_ms = 0.546875;
  json line = to_json(record);
  EXPECT_EQ(record_from_json(line).timing->sides["candidate"].q3_ms, 0.75);
  EXPECT_EQ(record_from_json(line).timing->sides["candidate"].lo_ms, 0.625);
  EXPECT_EQ(record_from_json(line).timing->sides["candidate"].hi_ms, 0.6875);
  EXPECT_EQ(record_from_json(line).timing->sides["candidate"].wall_ms, 0.75);
  EXPECT_EQ(record_from_json(line).timing->sides["candidate"].span_ms, 0.5625);
  EXPECT_EQ(record_from_json(line).timing->sides["candidate"].busy_ms, 0.546875);
  for (const char* name : {"q1_ms", "q3_ms", "lo_ms", "hi_ms", "wall_ms", "span_ms", "busy_ms"})
    line["timing"]["sides"]["candidate"].erase(name);
  EXPECT_FALSE(record_from_json(line).timing->sides["candidate"].q1_ms);
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

TEST(Record, ASpeedupIsPositiveAndItsIntervalInOrder) {
  const auto with = [](const char* field, double value) {
    json line = to_json(samples::correct());
    line["speedup"][0][field] = value;
    return line;
  };
  for (const json& line : {with("value", -1), with("value", 0), with("lo", 0), with("lo", 1e6)})
    EXPECT_THAT([&] { record_from_json(line); }, ThrowsMessage<Error>(HasSubstr("a speedup of ")));
  EXPECT_NO_THROW(record_from_json(with("value", 1e-9)));
}

TEST(Record, AMissingFieldIsNamedEachTime) {
  const json whole = to_json(samples::correct());
  for (const auto& [field, value] : whole.items()) {
    if (field == "type" || field == "correct_at" || field == "compile" || field == "timing" ||
        field == "details" || field == "findings" || field == "findings_count" ||
        field == "profile" || field == "estimate" || field == "judge" || field == "sizes" ||
        field == "reduced_sizes" || field == "reused_from" || field == "sol" || field == "ended" ||
        field == "degenerate_problem") {
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
      [](Record& r) { r.judge = kKernelBenchJudge; },
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
