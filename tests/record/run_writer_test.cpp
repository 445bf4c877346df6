// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "kbench/error.hpp"
#include "record/run_details.hpp"
#include "record/run_log_fixture.hpp"

namespace kbench {
namespace {

using test::contents;
using test::header;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

using RunWriting = test::RunLog;

TEST_F(RunWriting, ASecondRunOnTheSameFileIsTurnedAway) {
  const RunWriter first(path_, false);
  for (const bool resume : {false, true}) {
    EXPECT_THAT([&] { RunWriter(path_, resume); },
                ThrowsMessage<UsageError>(AllOf(HasSubstr("another run is writing"),
                                                HasSubstr("run.jsonl"), HasSubstr("--out"))));
  }
}

TEST_F(RunWriting, AFileThatIsThereIsNeverOverwritten) {
  write_run(1, 1);
  const std::string before = contents(path_);
  EXPECT_THAT(
      [&] { RunWriter(path_, false); },
      ThrowsMessage<UsageError>(AllOf(HasSubstr("run.jsonl exists"), HasSubstr("--resume"))));
  EXPECT_EQ(contents(path_), before);
}

TEST_F(RunWriting, WhatCannotBeWrittenIsSaid) {
  EXPECT_THAT([&] { RunWriter(folder_.path() / "none" / "run.jsonl", false); },
              ThrowsMessage<UsageError>(AllOf(HasSubstr("cannot write"), HasSubstr("--out"))));
  EXPECT_THAT([&] { RunWriter("/dev/null", false); },
              ThrowsMessage<UsageError>(HasSubstr("not a regular file")));
}

TEST_F(RunWriting, TextThatIsNotUtf8IsWrittenReadably) {
  write_run(1, 0);
  RunWriter(path_, true)
      .write(samples::failed(Outcome::kCrash, "signal", "bad \xff byte"), {{"log", "\xfe"}});
  const RunFile run = read_run(path_);
  ASSERT_THAT(run.records, SizeIs(1));
  EXPECT_THAT(run.records[0].message, HasSubstr("bad \xef\xbf\xbd byte"));
}

TEST_F(RunWriting, ASourceIsKeptOnceAlsoByTheRunThatGoesOn) {
  Record streamed = samples::correct();
  {
    RunWriter writer(path_, false);
    writer.write(header());
    writer.keep_source(streamed.candidate_hash, "the source");
    writer.write(streamed, nullptr);
    Record file = samples::correct("alpha", "p", 1);
    file.candidate_hash = "another";
    writer.write(file, nullptr);
  }
  const std::string kept = contents(details_path(path_));
  const RunFile earlier = read_run(path_);
  EXPECT_FALSE(earlier.records[1].source);
  {
    RunWriter writer(path_, true);
    writer.take_sources(earlier);
    writer.keep_source(streamed.candidate_hash, "the source");
    streamed.sample = 2;
    writer.write(streamed, nullptr);
  }
  EXPECT_EQ(contents(details_path(path_)), kept);
  const RunFile run = read_run(path_);
  std::string why_none;
  for (const std::size_t i : {0u, 2u})
    EXPECT_EQ(RunDetails(run).source(run.records[i], why_none), "the source") << why_none;
}

TEST_F(RunWriting, ASourceThatWasLostIsKeptAgain) {
  const Record streamed = samples::correct();
  {
    RunWriter writer(path_, false);
    writer.write(header());
    writer.keep_source(streamed.candidate_hash, "the source");
    writer.write(streamed, nullptr);
  }
  std::filesystem::remove(details_path(path_));
  RunWriter writer(path_, true);
  writer.take_sources(read_run(path_));
  writer.keep_source(streamed.candidate_hash, "the source");
  EXPECT_THAT(contents(details_path(path_)), HasSubstr("the source"));
}

/// Makes the disk look full at `bytes` of each file, for the life of the object.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(RunWriting, AFullDiskIsAFaultThatKeepsWhatWasWrittenBefore) {
  RunWriter writer(path_, false);
  writer.write(header());
  writer.write(samples::correct("alpha", "p", 0), nullptr);
  const std::size_t kept = contents(path_).size();
  {
    const FileSizeLimit limit(kept + 100);
    EXPECT_THAT([&] { writer.write(samples::correct("alpha", "p", 1), nullptr); },
                ThrowsMessage<Error>(AllOf(HasSubstr("run.jsonl"), HasSubstr("the 1 records"),
                                           HasSubstr("--resume"))));
    EXPECT_THROW(writer.write_end("s", false), Error);
  }
  EXPECT_EQ(contents(path_).size(), kept + 100);
  RunFile run = read_run(path_);
  EXPECT_THAT(run.records, SizeIs(1));
  EXPECT_TRUE(run.torn);

  writer.write(samples::correct("alpha", "p", 2), nullptr);
  run = read_run(path_);
  ASSERT_THAT(run.records, SizeIs(2));
  EXPECT_EQ(run.records[1].sample, 2);
  EXPECT_THAT(run.bad_lines, SizeIs(1));
}

}  // namespace
}  // namespace kbench
