// SPDX-License-Identifier: MIT
// What gnuplot is told of the charts of --plot; that it draws them, formats_test.py looks at.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "report/format/plot_parts.hpp"
#include "report/report_samples.hpp"

namespace kbench {
namespace {

using report::build_charts;
using report::Plot;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The lines of each data block, as numbers.
std::vector<std::vector<std::vector<double>>> blocks_of(const std::string& script) {
  std::vector<std::vector<std::vector<double>>> blocks;
  std::istringstream in(script);
  bool is_inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.ends_with("<< KBENCH_END")) {
      blocks.emplace_back();
      is_inside = true;
    } else if (line == "KBENCH_END") {
      is_inside = false;
    } else if (is_inside) {
      std::istringstream numbers(line);
      blocks.back().emplace_back();
      for (double number = 0; numbers >> number;) blocks.back().back().push_back(number);
    }
  }
  return blocks;
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

/// One sample each of `models`, all of the same problem.
Report of_models(int models, int samples = 1) {
  RunFile run;
  for (int m = 0; m < models; ++m) {
    const std::string model = fmt::format("model{:02}", m);
    for (int i = 0; i < samples; ++i) {
      run.roster.push_back(samples::planned(model.c_str(), "level1/19_ReLU", 1, i));
      run.records.push_back(samples::correct(model.c_str(), "level1/19_ReLU", i,
                                             0.5 + 0.25 * static_cast<double>(m)));
    }
  }
  return build_report(std::move(run), {});
}

TEST(Plot, TheBandOfFastPStepsWithItsLine) {
  const Report report = build_report(samples::gpu_run(), {});
  const Plot plot = report::fast_p_plot(build_charts(report));
  const auto blocks = blocks_of(plot.script);
  ASSERT_FALSE(blocks.empty());
  for (const auto& block : blocks) {
    ASSERT_GT(block.size(), 31u);
    for (std::size_t i = 1; i < block.size(); ++i) {
      // Either along, or up and down, never slanted: value, lower and upper end of the interval.
      if (block[i][0] == block[i - 1][0]) continue;
      for (const std::size_t column : {1, 2, 3})
        EXPECT_EQ(block[i][column], block[i - 1][column]) << plot.script;
    }
  }
  EXPECT_THAT(plot.script, AllOf(HasSubstr("filledcurves"), Not(HasSubstr("with steps"))));
}

TEST(Plot, TimesHaveTheDevicesLimit) {
  Report report = of_models(2);
  for (Record& record : report.run.records) record.sol->limit_ms = 0.004;
  const Plot plot = report::times_plot(report, build_charts(report));
  EXPECT_THAT(plot.script, HasSubstr("the device’s limit"));
  // Once for a problem, however many candidates it has.
  const auto limits = blocks_of(plot.script).back();
  ASSERT_EQ(limits.size(), 1u);
  EXPECT_EQ(limits[0][1], 0.004);
  for (Record& record : report.run.records) record.sol->limit_ms = {};
  EXPECT_THAT(report::times_plot(report, build_charts(report)).script, Not(HasSubstr("limit")));
}

TEST(Plot, TheMapHasACellForEachCandidateInItsOutcomesColour) {
  const Report report = build_report(samples::gpu_run(), {});
  const Plot plot = report::map_plot(report);
  std::size_t cells = 0;
  for (const auto& block : blocks_of(plot.script)) cells += block.size();
  EXPECT_EQ(cells, report.candidates.size());
  EXPECT_THAT(plot.script, AllOf(HasSubstr("'level1/2_Softmax'"), HasSubstr("'alpha'"),
                                 HasSubstr("title 'mismatch'")));
}

TEST(Plot, OfVeryManySamplesTheMapShowsHowManyCameToWhat) {
  const Report report = of_models(2, 10'001);
  const auto blocks = blocks_of(report::map_plot(report).script);
  ASSERT_EQ(blocks.size(), 1u);
  ASSERT_EQ(blocks[0].size(), 2u);
  EXPECT_EQ(blocks[0][0][3] - blocks[0][0][2], 10'001);
}

TEST(Plot, TheTimelineHasBarsOrOfManyARate) {
  Report report = of_models(1, 30);
  double now = 1769851800;
  for (Record& record : report.run.records) record.ended_at = now += 1, record.seconds = 1.5;
  const auto bars = blocks_of(report::timeline_plot(report).script);
  ASSERT_EQ(bars.size(), 1u);
  EXPECT_EQ(bars[0].size(), 30u);
  EXPECT_EQ(bars[0][0][2], 0);

  report = of_models(1, 3000);
  for (Record& record : report.run.records) record.ended_at = now += 1, record.seconds = 1.5;
  EXPECT_THAT(report::timeline_plot(report).script, HasSubstr("verdicts a second"));
  for (Record& record : report.run.records) record.ended_at = {};
  EXPECT_EQ(report::timeline_plot(report).script, "");
}

TEST(Plot, OfManyModelsTheBestHaveColoursAndTheOthersOneName) {
  const Report report = of_models(20, 2);
  const report::Charts charts = build_charts(report);
  for (const Plot& plot :
       {report::fast_p_plot(charts), report::at_k_plot(charts),
        report::speedups_plot(report, charts), report::times_plot(report, charts)}) {
    EXPECT_EQ(count_of(plot.script, "title '12 others'"), 1u) << plot.name;
    EXPECT_EQ(count_of(plot.script, "title 'model"), 8u) << plot.name;
  }
}

TEST(Plot, OneSampleAProblemIsADotForEachModel) {
  const Report report = of_models(3);
  const Plot plot = report::at_k_plot(build_charts(report));
  EXPECT_THAT(plot.script, AllOf(HasSubstr("'model00' "), HasSubstr("with xerrorbars")));
}

}  // namespace
}  // namespace kbench
