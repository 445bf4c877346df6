// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>

#include "kbench/error.hpp"
#include "kbench/metrics.hpp"

namespace kbench {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

SampleResult wrong() { return {}; }

SampleResult right(std::optional<double> speedup = std::nullopt, double half_width = 0) {
  SampleResult sample;
  sample.correct = true;
  sample.speedup = speedup;
  if (speedup) sample.speedup_lo = *speedup - half_width;
  return sample;
}

ProblemSamples problem(std::string_view name, std::vector<SampleResult> samples) {
  ProblemSamples result;
  result.problem = name;
  result.samples = std::move(samples);
  return result;
}

ProblemSamples counted(std::string_view name, std::size_t n, std::size_t c) {
  std::vector<SampleResult> samples(n, wrong());
  for (std::size_t i = 0; i < c; ++i) samples[i].correct = true;
  return problem(name, std::move(samples));
}

TEST(FastP, IsStrictAndLooksAtFirstSamplesOnly) {
  const std::vector<ProblemSamples> problems = {
      problem("a", {right(2.0), right(9.0)}), problem("b", {right(1.0)}),
      problem("c", {wrong(), right(9.0)}), problem("d", {right()})};
  EXPECT_DOUBLE_EQ(*fast_p(problems, 0).value, 3.0 / 4);
  EXPECT_DOUBLE_EQ(*fast_p(problems, 0.5).value, 2.0 / 4) << "d is correct, but has no time";
  EXPECT_DOUBLE_EQ(*fast_p(problems, 1).value, 1.0 / 4) << "b's 1.0 is not above 1";
  EXPECT_DOUBLE_EQ(*fast_p(problems, 2).value, 0.0);
}

TEST(FastP, ASpeedupOfWhatComputesNothingCountsForNoPAboveZero) {
  SampleResult nothing = right(9.0, 0.1);
  nothing.computes = false;
  const std::vector<ProblemSamples> problems = {problem("a", {nothing}),
                                                problem("b", {right(2.0)})};
  EXPECT_DOUBLE_EQ(*fast_p(problems, 0).value, 1.0);
  EXPECT_DOUBLE_EQ(*fast_p(problems, 0.5).value, 0.5);
  EXPECT_DOUBLE_EQ(*fast_p_ci(problems, 0).value, 1.0);
  EXPECT_DOUBLE_EQ(*fast_p_ci(problems, 1).value, 0.5);
  EXPECT_DOUBLE_EQ(*fast_p_at_k(problems, 1, 1).value, 0.5);
  EXPECT_DOUBLE_EQ(*pass_at_k(problems, 1).value, 1.0);
  EXPECT_EQ(geometric_mean(problems).count, 1);
  EXPECT_NEAR(*geometric_mean(problems).estimate.value, 2.0, 1e-12);
  EXPECT_NEAR(*geometric_mean_of_all(problems).value, std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(*best_of_k(problems, 1).value, std::sqrt(2.0), 1e-12);
  EXPECT_FALSE(best_of_k(std::vector{problem("a", {nothing})}, 1).value);
}

TEST(FastP, AProblemWithoutItsFirstSampleIsLeftOut) {
  std::vector<ProblemSamples> problems = {problem("a", {right(2.0)}), problem("b", {right(3.0)})};
  problems[1].first_excluded = true;
  EXPECT_DOUBLE_EQ(*fast_p(problems, 2.5).value, 0.0);
  EXPECT_DOUBLE_EQ(*pass_at_k(problems, 1).value, 1.0) << "its other samples still count here";
  problems.erase(problems.begin());
  EXPECT_FALSE(fast_p(problems, 0).value);
  EXPECT_EQ(fast_p({}, 0).why_none, "no problems");
}

TEST(FastP, TheIntervalsLowerEndDecidesForCi) {
  const std::vector<ProblemSamples> problems = {problem("a", {right(1.1, 0.2)}),
                                                problem("b", {right(1.1, 0.05)})};
  EXPECT_DOUBLE_EQ(*fast_p(problems, 1).value, 1.0);
  EXPECT_DOUBLE_EQ(*fast_p_ci(problems, 1).value, 0.5);
}

TEST(FastP, OwnCountsOnlyOwnKernels) {
  std::vector<ProblemSamples> problems = {problem("a", {right(2.0)}), problem("b", {right(2.0)})};
  problems[0].samples[0].own = true;
  EXPECT_DOUBLE_EQ(*fast_p_own(problems, 1).value, 0.5);
  EXPECT_DOUBLE_EQ(*fast_p_own(problems, 0).value, 0.5);
  EXPECT_DOUBLE_EQ(*fast_p_own(problems, 2).value, 0.0);
}

TEST(PassAtK, IsTheUnbiasedEstimator) {
  // 1 − C(2,2)/C(4,2) = 5/6; 1 − C(4,2)/C(4,2) = 0; 1 − C(1,2)/… = 1.
  const std::vector<ProblemSamples> problems = {counted("a", 4, 2), counted("b", 4, 0),
                                                counted("c", 4, 3)};
  EXPECT_NEAR(*pass_at_k(problems, 2).value, (5.0 / 6 + 0 + 1) / 3, 1e-12);
  EXPECT_NEAR(*pass_at_k(problems, 1).value, (0.5 + 0 + 0.75) / 3, 1e-12);
  EXPECT_NEAR(*pass_at_k(problems, 4).value, 2.0 / 3, 1e-12);
}

TEST(PassAtK, AgreesWithCountingAllSubsets) {
  for (unsigned n = 1; n <= 6; ++n) {
    for (unsigned c = 0; c <= n; ++c) {
      for (unsigned k = 1; k <= n; ++k) {
        int subsets = 0, with_success = 0;
        for (unsigned chosen = 0; chosen < (1u << n); ++chosen) {
          if (std::popcount(chosen) != static_cast<int>(k)) continue;
          ++subsets;
          if ((chosen & ((1u << c) - 1)) != 0) ++with_success;
        }
        EXPECT_NEAR(*pass_at_k(std::vector{counted("a", n, c)}, static_cast<int>(k)).value,
                    static_cast<double>(with_success) / subsets, 1e-12)
            << n << " " << c << " " << k;
      }
    }
  }
}

TEST(PassAtK, HasNoValueWhereSomeProblemHasFewerSamplesAndNamesThem) {
  const std::vector<ProblemSamples> problems = {counted("a", 5, 1), counted("b", 3, 1),
                                                counted("c", 1, 1), counted("d", 2, 1),
                                                counted("e", 1, 0)};
  const Estimate estimate = pass_at_k(problems, 5);
  EXPECT_FALSE(estimate.value || estimate.lo || estimate.hi);
  EXPECT_EQ(estimate.why_none, "fewer than 5 judged samples of b (3), c (1), d (2) and 1 more");
}

TEST(FastPAtK, CountsSamplesThatAreFast) {
  // c = 1 of 3 above 1.5: 1 − C(2,2)/C(3,2) = 2/3.
  const std::vector<ProblemSamples> problems = {problem("a", {right(1.0), right(2.0), wrong()})};
  EXPECT_NEAR(*fast_p_at_k(problems, 1.5, 2).value, 2.0 / 3, 1e-12);
  EXPECT_NEAR(*fast_p_at_k(problems, 0, 2).value, 1.0, 1e-12);
}

TEST(GeometricMean, IsOverCorrectFirstSamples) {
  const std::vector<ProblemSamples> problems = {problem("a", {right(2.0), right(100.0)}),
                                                problem("b", {right(8.0)}), problem("c", {wrong()}),
                                                problem("d", {right()})};
  const GeometricMean mean = geometric_mean(problems);
  EXPECT_NEAR(*mean.estimate.value, 4.0, 1e-12);
  EXPECT_EQ(mean.count, 2);
  EXPECT_LE(*mean.estimate.lo, 4.0);
  EXPECT_GE(*mean.estimate.hi, 4.0);
  EXPECT_FALSE(geometric_mean(std::vector{problem("a", {wrong()})}).estimate.value);
}

TEST(Bootstrap, GivesTheIntervalOfABinomialShare) {
  // 40 of 100: the standard error is 0.049, so the interval is about 0.4 ± 0.096.
  std::vector<ProblemSamples> problems;
  for (std::size_t i = 0; i < 100; ++i) problems.push_back(counted("p", 1, i < 40 ? 1 : 0));
  const Estimate estimate = fast_p(problems, 0);
  EXPECT_NEAR(*estimate.lo, 0.304, 0.02);
  EXPECT_NEAR(*estimate.hi, 0.496, 0.02);
  const Estimate again = fast_p(problems, 0);
  EXPECT_EQ(*estimate.lo, *again.lo) << "the same data give the same interval each time";
  EXPECT_EQ(*estimate.hi, *again.hi);
}

TEST(Wilson, GivesTheIntervalWhereAllOrNoneSucceed) {
  // n = 4 and z² = 3.8415: from 4 / (4 + z²) to 1, and from 0 to z² / (4 + z²).
  const std::vector<ProblemSamples> all(4, counted("a", 2, 2)), none(4, counted("a", 2, 0));
  for (const char* name : {"correct", "fast_0", "pass@1", "pass@2", "fast_0 own"}) {
    std::vector<ProblemSamples> own = all;
    for (ProblemSamples& problem : own) problem.samples[0].own = true;
    const Estimate high = metric_from_name(name).compute(own);
    EXPECT_NEAR(*high.lo, 0.5101, 1e-4) << name;
    EXPECT_EQ(high.hi, 1.0) << name;
    const Estimate low = metric_from_name(name).compute(none);
    EXPECT_EQ(low.lo, 0.0) << name;
    EXPECT_NEAR(*low.hi, 0.4899, 1e-4) << name;
  }
}

TEST(Wilson, GivesTheIntervalWhereAllProblemsAreEqual) {
  // p = 2/3 and n = 1.
  const Estimate estimate = pass_at_k(std::vector{counted("a", 3, 2)}, 1);
  EXPECT_NEAR(*estimate.lo, 0.0942, 1e-4);
  EXPECT_NEAR(*estimate.hi, 0.9747, 1e-4);
}

TEST(Bootstrap, MeansOfEqualSpeedupsHaveAPoint) {
  const GeometricMean mean = geometric_mean(std::vector{problem("a", {right(2.0)})});
  EXPECT_EQ(mean.estimate.lo, mean.estimate.value);
  EXPECT_EQ(mean.estimate.hi, mean.estimate.value);
}

TEST(FastPSteps, AreAtTheSpeedupsAndAgreeWithFastP) {
  SampleResult nothing = right(9.0);
  nothing.computes = false;
  const std::vector<ProblemSamples> problems = {
      problem("a", {right(1.05)}), problem("b", {right(2.0), right(0.1)}),
      problem("c", {right(1.05)}), problem("d", {wrong()}),
      problem("e", {right(7.0)}),  problem("f", {nothing})};
  std::vector<double> p;
  for (const FastPStep& step : fast_p_steps(problems, 3)) {
    p.push_back(step.p);
    const Estimate estimate = fast_p(problems, step.p);
    EXPECT_EQ(step.value.value, estimate.value) << step.p;
    EXPECT_EQ(step.value.lo, estimate.lo) << step.p;
    EXPECT_EQ(step.value.hi, estimate.hi) << step.p;
  }
  EXPECT_THAT(p, testing::ElementsAre(0, 1e-6, 1.05, 2, 3)) << "f counts at 0 and nowhere else";
  EXPECT_TRUE(fast_p_steps({}, 3).empty());
}

TEST(FastPSteps, OfManyProblemsAreThinnedAndQuick) {
  std::vector<ProblemSamples> problems;
  for (int i = 1; i <= 10000; ++i) problems.push_back(problem("a", {right(i * 3e-4)}));
  const auto start = std::chrono::steady_clock::now();
  const std::vector<FastPStep> steps = fast_p_steps(problems, 3);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 10) << "0.2 s are usual";
  EXPECT_LE(steps.size(), 1002u);
  for (std::size_t i = 0; i < steps.size(); i += 250)
    EXPECT_EQ(steps[i].value.value, fast_p(problems, steps[i].p).value) << steps[i].p;
}

TEST(MetricTable, EveryRowHasANameThatLeadsBackAndAValue) {
  std::vector<ProblemSamples> problems = {problem("a", {right(2.0, 0.1), right(2.0, 0.1)})};
  problems[0].samples[0].own = true;
  problems[0].samples[0].allclose_at = 1e-5;
  const std::vector<double> p = {0, 1.5};
  const std::vector<int> k = {1, 2};
  std::set<const MetricRow*> rows;
  std::set<std::string> names;
  for (const Metric& metric : metrics_for(p, k)) {
    EXPECT_TRUE(names.insert(metric.name()).second) << metric.name();
    rows.insert(metric.row);
    const Metric found = metric_from_name(metric.name());
    EXPECT_EQ(found.name(), metric.name());
    EXPECT_EQ(found.row, metric.row);
    ASSERT_TRUE(metric.compute(problems).value) << metric.name();
    EXPECT_NEAR(*metric.compute(problems).value, metric.row->ratio ? 2.0 : 1.0, 1e-12)
        << metric.name();
  }
  EXPECT_EQ(rows.size(), metric_rows().size());
  EXPECT_EQ(names, (std::set<std::string>{
                       "fast_0", "fast_1.5", "fast_1.5@ci", "fast_0 own", "fast_1.5 own", "pass@1",
                       "pass@2", "fast_1.5@1", "fast_1.5@2", "geomean", "geomean_all", "best@1",
                       "best@2", "correct", "allclose_0.01", "allclose_0.001", "allclose_0.0001"}));
}

TEST(GeometricMean, OfAllTakesTheReferenceWhereTheCandidateFailed) {
  const std::vector<ProblemSamples> problems = {problem("a", {right(4.0)}), problem("b", {wrong()}),
                                                problem("c", {right()})};
  EXPECT_NEAR(*geometric_mean(problems).estimate.value, 4.0, 1e-12);
  EXPECT_NEAR(*geometric_mean_of_all(problems).value, std::cbrt(4.0), 1e-12);
  EXPECT_FALSE(geometric_mean_of_all(std::vector{problem("a", {wrong()})}).value);
  EXPECT_NEAR(*geometric_mean_of_all(std::vector{problem("a", {right(0.5)})}).value, 0.5, 1e-12)
      << "what is right and slow is taken as it is";
}

TEST(BestOfK, IsTheExpectedBestOfTheDrawsAndTheReference) {
  // Of {2, 8, wrong} two are drawn: {2, 8} → 8, {2, wrong} → 2, {8, wrong} → 8.
  const std::vector<ProblemSamples> three = {problem("a", {right(2.0), right(8.0), wrong()})};
  EXPECT_NEAR(*best_of_k(three, 1).value, std::cbrt(16.0), 1e-12);
  EXPECT_NEAR(*best_of_k(three, 2).value, std::cbrt(8.0 * 2.0 * 8.0), 1e-12);
  EXPECT_NEAR(*best_of_k(three, 3).value, 8.0, 1e-12);
  EXPECT_FALSE(best_of_k(three, 4).value);
  EXPECT_NEAR(*best_of_k(std::vector{problem("a", {right(0.25)})}, 1).value, 1.0, 1e-12)
      << "who tries keeps the reference where it is faster";
}

TEST(Correct, CountsSamplesWhereFastZeroCountsFirstOnes) {
  const std::vector<ProblemSamples> problems = {counted("a", 4, 3), counted("b", 1, 0)};
  EXPECT_DOUBLE_EQ(*share_correct(problems).value, 3.0 / 5);
  EXPECT_DOUBLE_EQ(*fast_p(problems, 0).value, 1.0 / 2);
  EXPECT_DOUBLE_EQ(*pass_at_k(problems, 1).value, 3.0 / 8);
  EXPECT_FALSE(share_correct({}).value);
}

TEST(Allclose, SaysWhatOtherTolerancesWouldHaveTaken) {
  std::vector<ProblemSamples> problems = {problem("a", {right()}), problem("b", {wrong()}),
                                          problem("c", {wrong()})};
  EXPECT_EQ(share_allclose(problems, 1e-2).why_none, "no record has a comparison with tolerances");
  problems[0].samples[0].allclose_at = std::numeric_limits<double>::infinity();
  EXPECT_EQ(share_allclose(problems, 1e-2).why_none, "no record has a comparison with tolerances")
      << "one that gave nothing to compare tells nothing of the others";
  for (ProblemSamples& problem : problems)
    problem.samples[0].allclose_at = std::numeric_limits<double>::infinity();
  EXPECT_DOUBLE_EQ(*share_allclose(problems, 1e-2).value, 0.0) << "none gave anything";
  problems[0].samples[0].allclose_at = 1e-3;
  problems[1].samples[0].allclose_at = 5e-3;
  problems[2].samples[0].allclose_at = std::numeric_limits<double>::infinity();
  EXPECT_DOUBLE_EQ(*share_allclose(problems, 1e-2).value, 2.0 / 3);
  EXPECT_DOUBLE_EQ(*share_allclose(problems, 1e-3).value, 1.0 / 3) << "it holds at its own t";
  EXPECT_DOUBLE_EQ(*share_allclose(problems, 1e-4).value, 0.0);
}

TEST(MetricTable, KnowsWhatNeedsAGpu) {
  for (const char* name :
       {"fast_1", "fast_0.5@ci", "fast_1 own", "fast_1@5", "geomean", "geomean_all", "best@3"}) {
    EXPECT_TRUE(metric_from_name(name).needs_speedup()) << name;
  }
  for (const char* name : {"fast_0", "fast_0 own", "pass@5", "correct", "allclose_0.5"}) {
    EXPECT_FALSE(metric_from_name(name).needs_speedup()) << name;
  }
}

TEST(FastP, WhatNobodyMeasuredHasNoValue) {
  std::vector<ProblemSamples> problems = {problem("a", {right(2.0)}), problem("b", {wrong()})};
  problems[0].samples[0].own.reset();
  EXPECT_FALSE(fast_p_own(problems, 0).value);
  EXPECT_EQ(fast_p_own(problems, 1).why_none, "no record says whose kernels ran");
  EXPECT_DOUBLE_EQ(*fast_p_ci(problems, 1).value, 0.5);
  problems[0].samples[0].speedup_lo.reset();
  EXPECT_FALSE(fast_p_ci(problems, 1).value);
  EXPECT_DOUBLE_EQ(*fast_p_ci(problems, 0).value, 0.5) << "correctness needs no interval";
  EXPECT_DOUBLE_EQ(*fast_p(problems, 1).value, 0.5);
  problems.push_back(problem("c", {right(0.5, 0.1)}));
  EXPECT_DOUBLE_EQ(*fast_p_ci(problems, 1).value, 0.0) << "one that is known makes the others miss";
}

TEST(MetricTable, UnknownNamesAreAUsageErrorThatNamesTheKnown) {
  for (const char* name : {"", "fast", "fast_", "fast_x", "fast_-1", "pass@0", "pass@1x", "geo",
                           "fast_nan", "fast_inf", "speed"}) {
    EXPECT_THAT([&] { metric_from_name(name); },
                ThrowsMessage<UsageError>(HasSubstr("fast_P@K, geomean")))
        << name;
  }
}

TEST(Bootstrap, IsFastForALargeReport) {
  std::vector<ProblemSamples> problems;
  for (std::size_t i = 0; i < 250; ++i) problems.push_back(counted("p", 10, i % 11));
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 20; ++i) pass_at_k(problems, 5);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count() / 20, 1) << "2 ms are usual";
}

}  // namespace
}  // namespace kbench
