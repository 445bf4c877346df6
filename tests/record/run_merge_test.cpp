// SPDX-License-Identifier: MIT
// Several run files read as one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kbench/run_file.hpp"
#include "record/run_log_fixture.hpp"

namespace kbench {
namespace {

using test::header;
using test::manifest;
using test::RunLog;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(RunLog, ShardsMerge) {
  write_run(2, 1);
  const std::filesystem::path other = folder_.path() / "other.jsonl";
  {
    RunWriter writer(other, false);
    writer.write(header());
    writer.write(manifest(2));
    writer.write(samples::mismatch("alpha", "level1/19_ReLU", 1), nullptr);
  }
  const RunFile run = read_runs({path_, other});
  EXPECT_THAT(run.manifest, SizeIs(2));
  EXPECT_THAT(run.records, SizeIs(2));
  EXPECT_FALSE(run.ended);
}

TEST_F(RunLog, FilesThatDisagreeOnAVerdictAreNamed) {
  const auto other = folder_.path() / "other.jsonl";
  Record wrong = samples::mismatch();
  Record right = samples::correct();
  wrong.candidate_hash = right.candidate_hash;
  for (const auto& [path, record] : {std::pair(path_, right), std::pair(other, wrong)}) {
    RunWriter writer(path, false);
    writer.write(header());
    writer.write(record, nullptr);
    writer.write(samples::correct("beta"), nullptr);
  }
  const RunFile run = read_runs({path_, other});
  ASSERT_THAT(run.conflicts, SizeIs(1)) << "what both say alike is none";
  EXPECT_THAT(run.conflicts[0],
              AllOf(HasSubstr("level1/19_ReLU alpha 0: correct in " + path_.string()),
                    HasSubstr("mismatch in " + other.string())));
  EXPECT_EQ(run.records[0].outcome, Outcome::kMismatch) << "the later file counts";
  EXPECT_THAT(read_runs({path_}).conflicts, IsEmpty());
}

TEST_F(RunLog, OtherCodeForOneSampleInTwoFilesIsNamed) {
  const auto other = folder_.path() / "other.jsonl";
  Record first = samples::correct("alpha"), second = samples::mismatch("alpha");
  second.candidate_hash = "other code";
  Record alike = samples::correct("beta"), changed = alike;
  changed.candidate_hash = "other code, and as right";
  Record sizes = samples::correct("gamma"), other_sizes = sizes;
  other_sizes.problem_hash = "p1";
  {
    RunWriter writer(path_, false);
    writer.write(header());
    for (const Record& record : {first, alike, sizes}) writer.write(record, nullptr);
    // Within a file it was changed and judged again, which is no conflict.
    first.candidate_hash = "changed";
    writer.write(first, nullptr);
  }
  {
    RunWriter writer(other, false);
    writer.write(header());
    for (const Record& record : {second, changed, other_sizes}) writer.write(record, nullptr);
  }
  EXPECT_THAT(read_runs({path_, other}).conflicts,
              ElementsAre(AllOf(HasSubstr("level1/19_ReLU alpha 0: correct in "),
                                HasSubstr("other.jsonl (other code)")),
                          AllOf(HasSubstr("level1/19_ReLU beta 0: correct in "),
                                HasSubstr("correct in " + other.string() + " (other code)"))));
  EXPECT_THAT(read_run(path_).conflicts, IsEmpty());
}

}  // namespace
}  // namespace kbench
