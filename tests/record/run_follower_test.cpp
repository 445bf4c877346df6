// SPDX-License-Identifier: MIT
#include "record/run_follower.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kbench/error.hpp"
#include "record/run_log_fixture.hpp"

namespace kbench {
namespace {

using test::RunLog;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

TEST_F(RunLog, AFollowerReadsEachLineOnceAsItComes) {
  RunWriter writer(path_, false);
  RunFollower follower(path_);
  EXPECT_THAT(follower.poll().headers, IsEmpty());
  writer.write(test::header());
  writer.write(test::manifest(3));
  RunUpdate update = follower.poll();
  EXPECT_THAT(update.headers, SizeIs(1));
  EXPECT_THAT(update.manifest, SizeIs(3));
  EXPECT_FALSE(update.ended);
  writer.write(samples::correct(), nullptr);
  EXPECT_THAT(follower.poll().records, SizeIs(1));
  EXPECT_THAT(follower.poll().records, IsEmpty());
  writer.write_end("secret", true);
  EXPECT_TRUE(follower.poll().ended);
}

TEST_F(RunLog, AFollowerWaitsForTheEndOfALine) {
  const std::string line = to_json(samples::correct()).dump();
  test::put(path_, line.substr(0, 100));
  RunFollower follower(path_);
  EXPECT_THAT(follower.poll().records, IsEmpty());
  test::put(path_, line.substr(100), true);
  EXPECT_THAT(follower.poll().records, IsEmpty());
  test::put(path_, "\nnonsense\n", true);
  const RunUpdate update = follower.poll();
  EXPECT_THAT(update.records, SizeIs(1));
  EXPECT_EQ(update.bad_lines, 1u);
}

TEST_F(RunLog, AFollowerReadsALongFileInParts) {
  Record record = samples::correct();
  record.message = std::string(1u << 20, 'a');
  const std::string line = to_json(record).dump() + "\n";
  test::put(path_, "");
  constexpr std::size_t kLines = 20;
  for (std::size_t i = 0; i < kLines; ++i) test::put(path_, line, true);
  RunFollower follower(path_);
  const RunUpdate first = follower.poll();
  EXPECT_TRUE(first.more);
  const RunUpdate second = follower.poll();
  EXPECT_FALSE(second.more);
  EXPECT_LT(first.records.size(), kLines);
  EXPECT_EQ(first.records.size() + second.records.size(), kLines);
}

TEST_F(RunLog, AFollowerKnowsWhetherSomebodyWrites) {
  {
    const RunWriter writer(path_, false);
    EXPECT_TRUE(RunFollower(path_).is_written());
  }
  EXPECT_FALSE(RunFollower(path_).is_written());
}

TEST_F(RunLog, AFollowerSaysWhatItCannotFollow) {
  EXPECT_THAT([&] { RunFollower(folder_.path() / "none.jsonl"); },
              ThrowsMessage<UsageError>(HasSubstr("cannot read")));
  EXPECT_THAT([&] { RunFollower(folder_.path()); },
              ThrowsMessage<UsageError>(HasSubstr("not a regular file")));
  test::put(path_, "one line\n");
  RunFollower follower(path_);
  follower.poll();
  test::put(path_, "");
  EXPECT_THAT([&] { follower.poll(); }, ThrowsMessage<UsageError>(HasSubstr("became shorter")));
}

}  // namespace
}  // namespace kbench
