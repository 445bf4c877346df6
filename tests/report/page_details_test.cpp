// SPDX-License-Identifier: MIT
// The details of candidates in the page, if there are too many to include all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "report/html/html_data.hpp"
#include "report/report_samples.hpp"

namespace kbench {
namespace {

using report::page_details;
using report::PageDetails;
using testing::HasSubstr;
using testing::SizeIs;

std::vector<nlohmann::json> lines_of(const PageDetails& details) {
  std::vector<nlohmann::json> lines;
  std::istringstream in(details.lines);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line.empty() ? nlohmann::json() : nlohmann::json::parse(line));
  return lines;
}

/// Samples, every third of which is wrong.
Report many(int count, const std::string& message = "it is wrong") {
  RunFile run;
  for (int i = 0; i < count; ++i) {
    run.manifest.push_back(samples::planned("alpha", "level1/19_ReLU", 1, i));
    Record record = i % 3 == 0 ? samples::failed(Outcome::kCrash, "signal", message.c_str(),
                                                 "alpha", "level1/19_ReLU", i)
                               : samples::correct("alpha", "level1/19_ReLU", i);
    run.records.push_back(std::move(record));
  }
  return build_report(std::move(run), {});
}

TEST(PageDetails, OfFewCandidatesEverythingIsThere) {
  const PageDetails details = page_details(many(30));
  EXPECT_THAT(details.notes, SizeIs(0));
  for (const auto& line : lines_of(details)) EXPECT_TRUE(line.contains("record"));
}

TEST(PageDetails, FailuresComeFirstAndTheRestKeepTheirMessages) {
  const Report report = many(300);
  const std::size_t one = page_details(many(1)).lines.size();
  for (const std::size_t room : {20 * one, 90 * one, 200 * one}) {
    const std::vector<nlohmann::json> lines = lines_of(page_details(report, room));
    ASSERT_THAT(lines, SizeIs(300));
    std::size_t failures = 0, correct = 0;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool is_whole = !lines[i].is_null() && lines[i].contains("record");
      (i % 3 == 0 ? failures : correct) += is_whole;
      if (is_whole) continue;
      const nlohmann::json brief = {{"message", "it is wrong"}};
      EXPECT_EQ(lines[i], i % 3 == 0 ? brief : nlohmann::json());
    }
    EXPECT_GT(failures, 10u);
    EXPECT_TRUE(failures == 100 || correct == 0)
        << failures << " failures, " << correct << " right";
  }
}

TEST(PageDetails, WhatIsTakenComesFromAllPartsOfTheRun) {
  const std::size_t one = page_details(many(1)).lines.size();
  const std::vector<nlohmann::json> lines = lines_of(page_details(many(600), 40 * one));
  std::vector<int> tenths(10);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (!lines[i].is_null() && lines[i].contains("record")) ++tenths[i * 10 / lines.size()];
  EXPECT_THAT(tenths, testing::Each(testing::Gt(0)));
}

TEST(PageDetails, TheNoteCountsWhatIsThere) {
  const PageDetails details = page_details(many(300), 1);
  ASSERT_THAT(details.notes, SizeIs(1));
  EXPECT_THAT(details.notes[0], HasSubstr("1 of 100 failures and 0 of 200 others"));
}

TEST(PageDetails, LongMessagesOfTheRestAreCut) {
  const std::vector<nlohmann::json> lines =
      lines_of(page_details(many(30, std::string(5000, 'x')), 1));
  EXPECT_LT(lines[3].dump().size(), 1000u);
}

}  // namespace
}  // namespace kbench
