// SPDX-License-Identifier: MIT
#include "record/stored_baselines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "kbench/error.hpp"
#include "record/run_samples.hpp"

namespace kbench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::ThrowsMessage;

RunFile run_of(std::vector<Record> records) {
  RunFile run;
  run.headers.resize(1);
  run.headers[0].options["l2"] = "cold";
  run.records = std::move(records);
  return run;
}

/// What `kbench baseline` leaves of a reference whose eager time is 0.02 ms.
Record reference(double eager_ms = 0.020) {
  Record record = samples::correct(kReferenceModel);
  SideTiming& eager = record.timing->sides["eager"];
  eager.median_ms = eager_ms;
  eager.lo_ms = eager_ms * 0.995;
  eager.hi_ms = eager_ms * 1.005;
  return record;
}

/// A right candidate whose run measured no baseline.
Record candidate(double ms = 0.010) {
  Record record = samples::correct("alpha");
  record.timing->sides.erase("eager");
  record.speedup.clear();
  SideTiming& side = record.timing->sides["candidate"];
  side.median_ms = ms;
  side.lo_ms = ms * 0.996;
  side.hi_ms = ms * 1.004;
  return record;
}

StoredBaselines stored(std::vector<Record> records) {
  StoredBaselines baselines;
  baselines.add(run_of(std::move(records)), "stored.jsonl", "cold");
  return baselines;
}

TEST(StoredBaselines, GiveSpeedupsWithAnIntervalForTwoRuns) {
  Record record = candidate();
  stored({reference()}).put_into(record, {"eager"});
  ASSERT_THAT(record.speedup, SizeIs(1));
  const Speedup& speedup = record.speedup[0];
  EXPECT_EQ(speedup.baseline, "eager");
  EXPECT_TRUE(speedup.stored);
  EXPECT_DOUBLE_EQ(speedup.value, 2);
  const double own = std::hypot(0.005, 0.004);
  EXPECT_NEAR(speedup.lo, 2 / 1.01 * (1 - own), 2e-4);
  EXPECT_NEAR(speedup.hi, 2 * 1.01 * (1 + own), 2e-4);
  EXPECT_EQ(record.timing->sides.at("eager").median_ms, 0.020);
  EXPECT_THAT(record.flags, IsEmpty());
  EXPECT_TRUE(record_from_json(to_json(record)).speedup.at(0).stored);
}

TEST(StoredBaselines, OfModelsInEvalModeAreForThoseAlone) {
  Record timed_in_it = reference(), judged_in_it = candidate();
  timed_in_it.judge = judged_in_it.judge = kEvalModeJudge;
  const std::vector<std::string> eager{"eager"};
  EXPECT_THAT(stored({timed_in_it}).missing(judged_in_it, eager), IsEmpty());
  EXPECT_EQ(stored({timed_in_it}).missing(candidate(), eager), eager);
  EXPECT_EQ(stored({reference()}).missing(judged_in_it, eager), eager);
  EXPECT_THAT(stored({reference()}).missing(candidate(), eager), IsEmpty());
}

TEST(StoredBaselines, AreThoseByTheMethodOfTheCandidate) {
  Record by_another = reference(0.015);
  by_another.timing->method = "wall";
  const StoredBaselines baselines = stored({reference(), by_another});
  Record gated = candidate(), other = candidate(), bounded = candidate();
  other.timing->method = "wall";
  bounded.timing->method = bounded.timing->trust = "bounded";
  for (Record* record : {&gated, &other, &bounded}) {
    EXPECT_THAT(baselines.missing(*record, {"eager"}), IsEmpty());
    baselines.put_into(*record, {"eager"});
  }
  EXPECT_EQ(gated.timing->sides.at("eager").median_ms, 0.020);
  EXPECT_EQ(other.timing->sides.at("eager").median_ms, 0.015);
  EXPECT_THAT(other.flags, IsEmpty());
  EXPECT_THAT(bounded.speedup, IsEmpty());
  EXPECT_THAT(bounded.flags, ElementsAre("stored_baseline_unlike"));
}

TEST(StoredBaselines, ByAnotherMethodAreMeasured) {
  const auto missing = [](const Record& record, std::string_view method) {
    return stored({record}).missing(candidate(), {"eager"}, method).size();
  };
  for (const char* method : {"", "gated"}) EXPECT_EQ(missing(reference(), method), 0u) << method;
  for (const char* method : {"gate", "wall"}) EXPECT_EQ(missing(reference(), method), 1u) << method;
  // Of an older version.
  Record by_events = reference();
  by_events.timing->method = "events_held_net";
  EXPECT_EQ(missing(by_events, "gated"), 1u);
}

TEST(StoredBaselines, BoundsAreNotTaken) {
  Record bounded = reference();
  bounded.timing->method = bounded.timing->trust = "bounded";
  EXPECT_THAT(stored({bounded}).missing(candidate(), {"eager"}), ElementsAre("eager"));
}

TEST(StoredBaselines, OfAnotherDriverAreNotTaken) {
  RunFile run = run_of({reference()});
  run.headers[0].environment["driver"] = "580.159.03";
  for (const char* driver : {"", "580.159.03"}) {
    StoredBaselines baselines;
    EXPECT_TRUE(baselines.add(run, "stored.jsonl", "cold", driver)) << driver;
    EXPECT_THAT(baselines.missing(candidate(), {"eager"}), IsEmpty()) << driver;
  }
  StoredBaselines baselines;
  EXPECT_FALSE(baselines.add(run, "stored.jsonl", "cold", "590.1"));
  EXPECT_THAT(baselines.missing(candidate(), {"eager"}), ElementsAre("eager"));
  // Files of older versions do not say.
  run.headers[0].environment.erase("driver");
  EXPECT_TRUE(baselines.add(run, "stored.jsonl", "cold", "590.1"));
}

TEST(StoredBaselines, OfAnotherTaskOrMachineAreNotUsed) {
  const StoredBaselines baselines = stored({reference()});
  EXPECT_THAT(baselines.missing(candidate(), {"eager", "compile"}), ElementsAre("compile"));
  const auto missing = [&](auto change) {
    Record record = candidate();
    change(record);
    return baselines.missing(record, {"eager"});
  };
  EXPECT_THAT(missing([](Record& r) { r.problem_hash = "p1"; }), SizeIs(1));
  EXPECT_THAT(missing([](Record& r) { r.precision = "fp16"; }), SizeIs(1));
  EXPECT_THAT(missing([](Record& r) { r.device = "NVIDIA H100"; }), SizeIs(1));
  EXPECT_THAT(missing([](Record& r) { r.torch = "2.12.0"; }), SizeIs(1));
  EXPECT_THAT(missing([](Record& r) { r.problem = "level1/20_ReLU"; }), SizeIs(1));
  EXPECT_THAT(missing([](Record& r) { r.model = "beta"; }), IsEmpty());
}

TEST(StoredBaselines, WhatWasMeasuredStaysInItsPlace) {
  Record record = candidate();
  record.speedup = {{.baseline = "compile", .value = 1.5, .lo = 1.4, .hi = 1.6}};
  stored({reference()}).put_into(record, {"compile", "eager"});
  ASSERT_THAT(record.speedup, SizeIs(2));
  EXPECT_EQ(record.speedup[0].baseline, "compile");
  EXPECT_FALSE(record.speedup[0].stored);
  EXPECT_EQ(record.speedup[1].baseline, "eager");
}

TEST(StoredBaselines, TheLastRecordCountsAndTheCpuHasNoSpeedups) {
  Record record = candidate();
  stored({reference(0.090), reference(0.030)}).put_into(record, {"eager"});
  EXPECT_DOUBLE_EQ(record.speedup.at(0).value, 3);
  Record slow = reference();
  Record on_cpu = candidate();
  slow.device = on_cpu.device = "cpu";
  stored({slow}).put_into(on_cpu, {"eager"});
  EXPECT_THAT(on_cpu.speedup, IsEmpty());
  EXPECT_EQ(on_cpu.timing->sides.count("eager"), 1u);
}

TEST(StoredBaselines, WhatIsNotRightGetsNone) {
  Record record = samples::mismatch();
  stored({reference()}).put_into(record, {"eager"});
  EXPECT_FALSE(record.timing);
  EXPECT_THAT(record.speedup, IsEmpty());
}

TEST(StoredBaselines, AnotherStateOfTheL2IsRefused) {
  StoredBaselines baselines;
  EXPECT_THAT([&] { baselines.add(run_of({reference()}), "stored.jsonl", "warm"); },
              ThrowsMessage<UsageError>(HasSubstr("--l2 cold, but this run uses --l2 warm")));
}

TEST(BaselineCandidates, AreBaselinesOfTheSameRun) {
  StoredBaselines times;
  times.add_baseline_candidate(candidate(0.030), "candidate:main");
  Record record = candidate(0.010);
  times.put_into(record, {"candidate:main"});
  ASSERT_THAT(record.speedup, SizeIs(1));
  EXPECT_EQ(record.speedup[0].baseline, "candidate:main");
  EXPECT_FALSE(record.speedup[0].stored);
  EXPECT_DOUBLE_EQ(record.speedup[0].value, 3);
  EXPECT_LT(record.speedup[0].lo, 3 / 1.01);
  EXPECT_EQ(record.timing->sides.at("candidate:main").median_ms, 0.030);
  EXPECT_THAT(times.failures(record, {"candidate:main"}), IsEmpty());
}

/// With eager measured beside it.
Record beside_eager(Record record, double eager_ms) {
  record.timing->sides["eager"] = reference(eager_ms).timing->sides.at("eager");
  return record;
}

TEST(BaselineCandidates, AreComparedAtThePaceThatTheDeviceHasByNow) {
  StoredBaselines times;
  times.add_baseline_candidate(beside_eager(candidate(0.030), 0.060), "candidate:main");
  Record record = beside_eager(candidate(0.010), 0.066);
  times.put_into(record, {"candidate:main"});
  ASSERT_THAT(record.speedup, SizeIs(1));
  EXPECT_NEAR(record.speedup[0].value, 3.3, 1e-9);
  // Wider than without: eager's two medians are not certain either.
  EXPECT_LT(record.speedup[0].lo, 3.3 / 1.01 / 1.0085);
  EXPECT_GT(record.speedup[0].hi, 3.3 * 1.01 * 1.0085);
  EXPECT_EQ(record.timing->sides.at("candidate:main").median_ms, 0.030);
}

TEST(BaselineCandidates, AreAtNoOtherPaceForATimeOutOfAFile) {
  StoredBaselines times = stored({reference(0.060)});
  Record other = candidate(0.030);
  times.put_into(other, {"eager"});
  times.add_baseline_candidate(other, "candidate:main");
  Record record = beside_eager(candidate(0.010), 0.066);
  times.put_into(record, {"candidate:main"});
  ASSERT_THAT(record.speedup, SizeIs(1));
  EXPECT_NEAR(record.speedup[0].value, 3, 1e-9);
}

TEST(BaselineCandidates, AreNeverAskedOfTheJudgeButTheCommonBaselineIs) {
  EXPECT_THAT(StoredBaselines().missing(candidate(), {"candidate:main", "compile"}),
              ElementsAre("compile"));
  EXPECT_THAT(StoredBaselines().missing(candidate(), {"candidate:main"}), ElementsAre("eager"));
  EXPECT_THAT(stored({reference()}).missing(candidate(), {"eager", "candidate:main"}),
              ElementsAre("eager"));
  EXPECT_THAT(stored({reference()}).missing(candidate(), {"eager"}), IsEmpty());
}

TEST(BaselineCandidates, WithoutATimeAreNamed) {
  StoredBaselines times;
  times.add_baseline_candidate(samples::mismatch("alpha"), "candidate:wrong");
  Record bounded = candidate();
  bounded.timing->method = bounded.timing->trust = "bounded";
  times.add_baseline_candidate(bounded, "candidate:bounded");
  const std::vector<std::string> baselines = {"candidate:wrong", "candidate:bounded",
                                              "candidate:elsewhere"};
  Record record = candidate();
  times.put_into(record, baselines);
  EXPECT_THAT(record.speedup, IsEmpty());
  EXPECT_THAT(record.flags, ElementsAre("baseline_failed"));
  const auto failures = times.failures(record, baselines);
  EXPECT_THAT(failures.at("candidate:wrong"), HasSubstr("mismatch"));
  EXPECT_THAT(failures.at("candidate:bounded"), HasSubstr("includes host code"));
  EXPECT_THAT(failures.at("candidate:elsewhere"), HasSubstr("no candidate for this problem"));
}

}  // namespace
}  // namespace kbench
