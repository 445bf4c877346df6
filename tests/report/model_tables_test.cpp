// SPDX-License-Identifier: MIT
#include "report/model/model_tables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "kbench/error.hpp"
#include "report/report_samples.hpp"
#include "report/text/text.hpp"

namespace kbench::report {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

TEST(McNemar, IsExact) {
  EXPECT_DOUBLE_EQ(mcnemar(0, 0), 1);
  EXPECT_NEAR(mcnemar(0, 5), 2.0 / 32, 1e-12);
  EXPECT_NEAR(mcnemar(5, 0), 2.0 / 32, 1e-12);
  EXPECT_NEAR(mcnemar(1, 5), 2.0 * 7 / 64, 1e-12);
  EXPECT_DOUBLE_EQ(mcnemar(3, 3), 1);
  EXPECT_GT(mcnemar(0, 1000), 0);
  EXPECT_LT(mcnemar(400, 600), 1e-9);
}

TEST(Pairs, ModelsAreComparedOnTheProblemsOfBoth) {
  // First samples: alpha has speedups of 1.9 and 1.0 on level 1, and an excluded problem. beta has
  // 2.5, a mismatch, and 0.8 on the problem that is excluded for alpha.
  const Report report = build_report(samples::gpu_run(), {});
  ASSERT_THAT(report.pairs, SizeIs(1));
  const ModelPair& pair = report.pairs[0];
  EXPECT_EQ(pair.a, "alpha");
  EXPECT_EQ(pair.b, "beta");
  EXPECT_EQ(pair.problems, 2);
  EXPECT_EQ(pair.only_a, 1);
  EXPECT_EQ(pair.only_b, 0);
  EXPECT_DOUBLE_EQ(pair.p_value, 1);
  EXPECT_EQ(pair.speed_problems, 1);
  EXPECT_NEAR(*pair.speed.value, 2.5 / 1.9, 1e-12);
  EXPECT_THAT(model_texts(report),
              Contains(HasSubstr("beta against alpha on 2 problems: only beta is right on 0, only "
                                 "alpha on 1 (p = 1); beta is 1.32x (1.32–1.32) as fast")));
  EXPECT_THAT(build_report(samples::cpu_run(), {}).pairs, IsEmpty()) << "there is one model";
}

RunFile of_two_baselines() {
  RunFile run = samples::gpu_run();
  for (Record& record : run.records) {
    if (record.speedup.empty()) continue;
    Speedup compiled = record.speedup[0];
    compiled.baseline = "compile";
    // `compile` is faster than eager, except for the first candidate.
    compiled.value = &record == run.records.data() ? 4.0 : compiled.value / 2;
    record.speedup.push_back(compiled);
    record.timing->sides["compile"] = record.timing->sides["eager"];
    record.timing->sides["compile"].median_ms = 0.006;
  }
  return run;
}

TEST(Baselines, EachIsARowAndTheBestIsTheFastestForEachCandidate) {
  const Report report = build_report(of_two_baselines(), {});
  ASSERT_THAT(report.over, SizeIs(6));
  const auto row = [&](std::string_view model, std::string_view baseline) {
    return *std::ranges::find_if(report.over, [&](const BaselineRow& one) {
      return one.model == model && one.baseline == baseline;
    });
  };
  EXPECT_NEAR(*row("alpha", "eager").geomean.value, std::sqrt(1.9 * 1.0), 1e-12);
  EXPECT_NEAR(*row("alpha", "compile").geomean.value, std::sqrt(4.0 * 0.5), 1e-12);
  EXPECT_NEAR(*row("alpha", "best").geomean.value, std::sqrt(1.9 * 0.5), 1e-12);
  EXPECT_DOUBLE_EQ(*row("alpha", "best").fast_1.value, 0.5);
  EXPECT_EQ(report.baseline, "eager") << "which still scores";
  EXPECT_THAT(model_texts(report),
              Contains(HasSubstr("alpha over the fastest baseline: fast_1 0.50")));
}

TEST(Baselines, TheBestMayScore) {
  const Report report = build_report(of_two_baselines(), {.baseline = "best"});
  const auto geomean = std::ranges::find(report.metrics, "geomean", &Metric::name);
  const auto place = static_cast<std::size_t>(geomean - report.metrics.begin());
  EXPECT_NEAR(*report.summary[0].estimates[place].value, std::sqrt(1.9 * 0.5), 1e-12);
  const Record& first = report.run.records[0];
  EXPECT_EQ(speedup_over(first, "best")->baseline, "eager");
  EXPECT_DOUBLE_EQ(*time_ms(report.run.records[2], "best"), 0.006);
  RunFile one = samples::cpu_run();
  one.headers[0].options["baselines"] = {"eager"};
  EXPECT_THAT([&] { build_report(one, {.baseline = "best"}); },
              ThrowsMessage<UsageError>(HasSubstr("has no baseline")));
}

TEST(Slices, AreOfTagsAndKindsWhereThereAreSeveral) {
  RunFile run = samples::gpu_run();
  EXPECT_THAT(build_report(run, {}).slices, IsEmpty());
  for (ManifestEntry& entry : run.manifest) entry.tags = {entry.level == 1 ? "small" : "product"};
  for (Record& record : run.records)
    if (record.sample == 1) record.kind = CandidateKind::kModule;
  const Report report = build_report(run, {.verbose = true});
  std::vector<std::string> names;
  for (const SummaryRow& row : report.slices)
    if (row.model == "alpha") names.push_back(row.slice);
  EXPECT_THAT(names, ElementsAre("tag product", "tag small", "kind kernel", "kind module"));
  EXPECT_THAT(model_texts(report),
              Contains(HasSubstr("alpha, kind module: 2 problems, 1/2 correct")));
  EXPECT_THAT(model_texts(report),
              Contains(HasSubstr("alpha, tag small: 2 problems, 3/4 correct")));
}

}  // namespace
}  // namespace kbench::report
