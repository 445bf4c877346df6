// SPDX-License-Identifier: MIT
// Which candidates of two runs are compared with each other.
#include "report/compare/sample_pairs.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/compare/comparison.hpp"
#include "report/comparison_samples.hpp"

namespace kbench {
namespace {

using samples::run_of;
using samples::timed;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Comparison compared(RunFile before, RunFile after) {
  std::vector<ComparedRun> runs;
  runs.push_back({.name = "before.jsonl", .run = std::move(before)});
  runs.push_back({.name = "after.jsonl", .run = std::move(after)});
  return build_comparison(std::move(runs), {});
}

/// A record of a candidate's file, whose number is that of its place among the files.
Record of_file(const std::string& file, int sample, bool is_correct) {
  Record record = is_correct ? timed("level1/1_A", 0.01) : samples::mismatch("alpha", "level1/1_A");
  record.sample = sample;
  record.candidate = file;
  record.candidate_hash = "code of " + file;
  return record;
}

/// The same with the code of another file.
Record renamed(const std::string& old, const std::string& file, int sample) {
  Record record = of_file(old, sample, true);
  record.candidate = file;
  return record;
}

/// "a.cu → b.cu both_correct" of each pair, and "a.cu alone" of each record without a counterpart.
std::vector<std::string> pairs_of(const RunFile& before, const RunFile& after) {
  const RunComparison pair = compared(before, after).comparisons.at(0);
  std::vector<std::string> lines;
  for (const ComparedSample& sample : pair.samples)
    lines.push_back(fmt::format("{} → {}{}", before.records[sample.base_record].candidate,
                                after.records[sample.other_record].candidate,
                                sample.change == Change::kBroken ? " broken" : ""));
  for (const UnmatchedSample& sample : pair.unmatched)
    lines.push_back((sample.in_base ? before : after).records[sample.record].candidate +
                    (sample.planned     ? " waits"
                     : sample.unchanged ? " unchanged"
                                        : " alone"));
  return lines;
}

TEST(ComparisonPairs, AreOfOneFileWhateverItsNumber) {
  EXPECT_THAT(
      pairs_of(run_of({of_file("k/1_A/row.cu", 0, true)}),
               run_of({of_file("k/1_A/fast.cu", 0, true), of_file("k/1_A/row.cu", 1, false)})),
      ElementsAre("k/1_A/row.cu → k/1_A/row.cu broken", "k/1_A/fast.cu alone"));
  EXPECT_THAT(
      pairs_of(run_of({of_file("main/k/1_A/row.cu", 0, true)}),
               run_of({of_file("b/k/1_A/a_new.cu", 0, false), of_file("b/k/1_A/row.cu", 1, true)})),
      ElementsAre("main/k/1_A/row.cu → b/k/1_A/row.cu", "b/k/1_A/a_new.cu alone"));
  const Comparison shifted =
      compared(run_of({of_file("k/1_A/row.cu", 0, true)}),
               run_of({of_file("k/1_A/a.cu", 0, true), of_file("k/1_A/row.cu", 1, false)}));
  EXPECT_THAT(regressions(shifted), Contains(HasSubstr("level1/1_A alpha 0 → 1")));
  std::ostringstream out;
  comparison_file("console").format->write(shifted, out);
  EXPECT_THAT(out.str(), HasSubstr("0 → 1"));
}

TEST(ComparisonPairs, OfFilesWithOneNameHaveTheSameFolders) {
  EXPECT_THAT(
      pairs_of(run_of({of_file("a/k/1_A/v1/0.cu", 0, true), of_file("a/k/1_A/v2/0.cu", 1, true)}),
               run_of({of_file("b/k/1_A/v0/0.cu", 0, true), of_file("b/k/1_A/v1/0.cu", 1, true),
                       of_file("b/k/1_A/v2/0.cu", 2, false)})),
      ElementsAre("a/k/1_A/v1/0.cu → b/k/1_A/v1/0.cu", "a/k/1_A/v2/0.cu → b/k/1_A/v2/0.cu broken",
                  "b/k/1_A/v0/0.cu alone"));
}

TEST(ComparisonPairs, OfOtherSamplesHaveOneNumber) {
  EXPECT_THAT(pairs_of(run_of({of_file("k/1_A/a.cu", 0, true), of_file("k/1_A/old.cu", 1, true)}),
                       run_of({of_file("k/1_A/a.cu", 0, true), of_file("k/1_A/new.cu", 1, true)})),
              ElementsAre("k/1_A/a.cu → k/1_A/a.cu", "k/1_A/old.cu → k/1_A/new.cu"))
      << "a renamed file";
  const auto streamed = [](const char* id, int sample) {
    Record record = of_file(id, sample, true);
    record.source = DetailsRef{};
    return record;
  };
  EXPECT_THAT(pairs_of(run_of({streamed("line 1", 0), streamed("line 2", 1)}),
                       run_of({streamed("line 2", 0), streamed("line 1", 1)})),
              ElementsAre("line 1 → line 2", "line 2 → line 1"))
      << "standard input has no files";
}

TEST(ComparisonPairs, OfRenamedFilesHaveTheSameCode) {
  EXPECT_THAT(
      pairs_of(
          run_of({of_file("a.cu", 0, true), of_file("b.cu", 1, true), of_file("c.cu", 2, true)}),
          run_of({of_file("b.cu", 0, true), of_file("c.cu", 1, true), renamed("a.cu", "d.cu", 2)})),
      ElementsAre("a.cu → d.cu", "b.cu → b.cu", "c.cu → c.cu"));
  EXPECT_THAT(pairs_of(run_of({of_file("a.cu", 0, true), of_file("c.cu", 1, true)}),
                       run_of({of_file("b.cu", 0, false), of_file("c.cu", 1, true),
                               renamed("a.cu", "z.cu", 2)})),
              ElementsAre("a.cu → z.cu", "c.cu → c.cu", "b.cu alone"));
}

TEST(ComparisonPairs, OfAFileWithTwoNumbersHaveItsNewestRecord) {
  const RunFile before =
      run_of({of_file("a.cu", 0, true), of_file("b.cu", 1, true), of_file("c.cu", 2, true)});
  // a.cu was removed before a resume.
  RunFile after = before;
  for (const Record& record : {of_file("b.cu", 0, false), of_file("c.cu", 1, true)})
    after.records.push_back(record);
  EXPECT_THAT(pairs_of(before, after),
              ElementsAre("b.cu → b.cu broken", "c.cu → c.cu", "a.cu alone"));
  EXPECT_THAT(pairs_of(after, run_of({of_file("b.cu", 0, true), of_file("c.cu", 1, true)})),
              ElementsAre("b.cu → b.cu", "c.cu → c.cu"));
}

TEST(ComparisonPairs, WaitForAFileThatIsNotJudgedYet) {
  const RunFile before = run_of({of_file("k/1_A/row.cu", 0, true)});
  RunFile after = run_of({of_file("k/1_A/fast.cu", 0, true)});
  after.manifest.push_back(samples::planned("alpha", "level1/1_A", 1, 1));
  EXPECT_THAT(pairs_of(before, after), ElementsAre("k/1_A/row.cu waits", "k/1_A/fast.cu alone"));
}

TEST(ComparisonPairs, LeaveOutWhatDidNotChange) {
  const RunFile before = run_of({of_file("k/1_A/row.cu", 0, true)});
  RunFile after = run_of({of_file("k/1_A/a_new.cu", 0, false)});
  after.headers[0].options["unchanged"] = {"k/1_A/row.cu"};
  EXPECT_THAT(pairs_of(before, after),
              ElementsAre("k/1_A/row.cu unchanged", "k/1_A/a_new.cu alone"));
  EXPECT_THAT(pairs_of(after, before), ElementsAre("k/1_A/a_new.cu alone", "k/1_A/row.cu alone"));
}

}  // namespace
}  // namespace kbench
