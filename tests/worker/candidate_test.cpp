// SPDX-License-Identifier: MIT
// The process of a kernel candidate, which the test forks and serves as its judge.
#include "worker/candidate/candidate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <cstring>

#include "kbench/profile.hpp"
#include "protocol/candidate_job.hpp"
#include "ptx/nvrtc_helper.hpp"
#include "worker/judged_process.hpp"

namespace kbench::worker {
namespace {

using testing::Each;
using testing::Gt;
using testing::HasSubstr;

constexpr std::int64_t kCount = 6;

BoundTensor tensor(BoundTensor::Role role, std::string name) {
  BoundTensor tensor;
  tensor.role = role;
  tensor.info = {std::move(name), DType::kFloat32, {kCount}};
  tensor.writable = role == BoundTensor::Role::kOutput || role == BoundTensor::Role::kScratch;
  return tensor;
}

/// The job of a kernel k(const float* x, float* y) with the given body, in which `i` is the
/// element's index.
CandidateJob job_of(const std::string& body) {
  CandidateJob job;
  job.device = "cpu";
  job.nonce = protocol::random_nonce();
  job.image = ptx::testing::compile(
      "extern \"C\" __global__ void k(float* x, float* y) { int i = threadIdx.x; " + body + " }");
  job.plan.tensors = {tensor(BoundTensor::Role::kInput, "x"),
                      tensor(BoundTensor::Role::kOutput, "y")};
  LaunchPlan::Launch launch;
  launch.symbol = launch.kernel = "k";
  launch.block = {kCount, 1, 1};
  launch.arguments.resize(2);
  launch.arguments[0].tensor = 0;
  launch.arguments[1].tensor = 1;
  job.plan.launches = {launch};
  return job;
}

const std::vector<float> kInput{1, -2, 3, -4, 5, -6};
constexpr auto kSource = BufferRole::kSource;
constexpr auto kWork = BufferRole::kWork;

class CandidateProcess : public testing::Test {
 protected:
  void SetUp() override { KBENCH_NEEDS_NVRTC(); }
  /// Starts the candidate of `job`, waits until it is loaded, and sends the buffers of one set.
  JudgedProcess& start(const CandidateJob& job, const std::vector<float>& input = kInput) {
    process_ = std::make_unique<JudgedProcess>(pack_job(job), job.nonce);
    process_->expect(MessageType::kLoaded);
    process_->add(0, 0, kSource, input);
    process_->add(0, 1, kWork);
    process_->map();
    return *process_;
  }
  std::unique_ptr<JudgedProcess> process_;
};

TEST_F(CandidateProcess, ComputesIntoTheJudgesBuffers) {
  auto& process = start(job_of("y[i] = 2 * x[i];"));
  ASSERT_TRUE(process.call(0));
  process.expect(MessageType::kCalled);
  EXPECT_EQ(process.values(0, 1, kWork), (std::vector<float>{2, -4, 6, -8, 10, -12}));
  EXPECT_EQ(process.values(0, 0, kSource), kInput);
  process.hang_up();
  EXPECT_EQ(process.exit_code(), 0);
}

TEST_F(CandidateProcess, KeepsSetsApartAndReportsNoTimes) {
  auto& process = start(job_of("y[i] = x[i] + 1;"));
  process.add(1, 0, kSource, std::vector<float>(kCount, 10));
  process.add(1, 1, kWork);
  process.map();
  ASSERT_TRUE(process.call(1));
  process.expect(MessageType::kCalled);
  EXPECT_THAT(process.values(1, 1, kWork), Each(11));
  EXPECT_THAT(process.values(0, 1, kWork), Each(0));  // not written yet
  ASSERT_TRUE(process.time({0, 1, 0, 1, 1, 0, 0}));
  EXPECT_EQ(process.expect(MessageType::kTimes), "");
  EXPECT_EQ(process.values(0, 1, kWork), (std::vector<float>{2, -1, 4, -3, 6, -5}));
}

TEST_F(CandidateProcess, PoisonsOutputsBeforeEachCall) {
  auto& process = start(job_of("if (i < 3 && x[0] > 0) y[i] = 7;"));
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(process.call(0));
    process.expect(MessageType::kCalled);
    const auto y = process.values(0, 1, kWork);
    EXPECT_EQ(y[2], 7);
    EXPECT_TRUE(std::isnan(y[3]));
    EXPECT_TRUE(std::isnan(y[5]));
  }
}

TEST_F(CandidateProcess, OutputsAndScratchHoldWhatTheJudgeSays) {
  CandidateJob job = job_of("y[i] = i == 4 ? x[i] : y[i];");
  auto& process = start(job);
  const float loud = [] {
    float value = 0;
    std::memset(&value, kLoudPoison, sizeof value);
    return value;
  }();
  ASSERT_TRUE(process.call(0, false, kZeroPoison));
  process.expect(MessageType::kCalled);
  EXPECT_EQ(process.values(0, 1, kWork), (std::vector<float>{0, 0, 0, 0, 5, 0}));
  ASSERT_TRUE(process.time({0, 0}, kLoudPoison));
  process.expect(MessageType::kTimes);
  EXPECT_EQ(process.values(0, 1, kWork), (std::vector<float>{loud, loud, loud, loud, 5, loud}));
  // The content of the only input from its middle on, and then its beginning.
  ASSERT_TRUE(process.call(0, false, kDataPoison + kDataPlaces / 2));
  process.expect(MessageType::kCalled);
  EXPECT_EQ(process.values(0, 1, kWork), (std::vector<float>{3, -4, 5, -6, 5, -2}));
  // Scratch has the same content.
  job = job_of("y[i] = x[i];");
  job.plan.tensors.push_back(tensor(BoundTensor::Role::kScratch, "tmp"));
  job.plan.launches[0].arguments[0].tensor = 2;
  auto& other = start(job);
  ASSERT_TRUE(other.call(0, false, kZeroPoison));
  other.expect(MessageType::kCalled);
  EXPECT_THAT(other.values(0, 1, kWork), Each(0));
  ASSERT_TRUE(other.call(0, false, kLoudPoison));
  other.expect(MessageType::kCalled);
  EXPECT_THAT(other.values(0, 1, kWork), Each(loud));
}

TEST_F(CandidateProcess, RestoresWhatInoutNamesBeforeEachCall) {
  CandidateJob job = job_of("x[i] += 1; y[i] = x[i];");
  job.plan.tensors[0].role = BoundTensor::Role::kState;
  job.plan.tensors[0].writable = true;
  auto& process = start(job);
  process.add(0, 0, kWork);
  process.map();
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(process.call(0));
    process.expect(MessageType::kCalled);
    EXPECT_EQ(process.values(0, 0, kWork), (std::vector<float>{2, -1, 4, -3, 6, -5}));
    EXPECT_EQ(process.values(0, 0, kSource), kInput);
  }
  ASSERT_TRUE(process.time({0, 0, 0}));
  process.expect(MessageType::kTimes);
  EXPECT_EQ(process.values(0, 0, kWork), (std::vector<float>{2, -1, 4, -3, 6, -5}));
}

TEST_F(CandidateProcess, FillsWhatThePlanFillsInEveryCall) {
  CandidateJob job = job_of("atomicAdd(&y[0], x[i]);");
  job.plan.tensors[1].filled = true;
  const float hundred = 100;
  std::memcpy(&job.plan.tensors[1].fill_bits, &hundred, sizeof hundred);
  auto& process = start(job);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(process.call(0));
    process.expect(MessageType::kCalled);
    EXPECT_EQ(process.values(0, 1, kWork), (std::vector<float>{97, 100, 100, 100, 100, 100}));
  }
}

TEST_F(CandidateProcess, RunsLaunchesInOrderOverScratchOfItsOwn) {
  CandidateJob job = job_of("y[i] = x[(i + 1) % 6];");
  job.plan.tensors.push_back(tensor(BoundTensor::Role::kScratch, "tmp"));
  job.plan.launches.push_back(job.plan.launches[0]);
  job.plan.launches[0].arguments[1].tensor = 2;
  job.plan.launches[1].arguments[0].tensor = 2;
  auto& process = start(job);
  ASSERT_TRUE(process.call(0));
  process.expect(MessageType::kCalled);
  EXPECT_EQ(process.values(0, 1, kWork), (std::vector<float>{3, -4, 5, -6, 1, -2}));
}

TEST_F(CandidateProcess, TellsItsOwnFailures) {
  struct Case {
    const char* body;
    Outcome outcome;
    const char *cause, *said;
  };
  for (const auto& c : {
           Case{"y[i + 6] = x[i];", Outcome::kIllegalWrite, "out_of_bounds_write", "output y"},
           Case{"x[i] = 1; y[i] = x[i];", Outcome::kIllegalWrite, "input_written", "input x"},
           Case{"y[i] = x[i + 6];", Outcome::kCrash, "out_of_bounds_read", "input x"},
           Case{"y[i] = *(float*)4096;", Outcome::kCrash, "illegal_address", ""},
           Case{"if (i == 5) __trap(); y[i] = x[i];", Outcome::kCrash, "trap", ""},
       }) {
    auto& process = start(job_of(c.body));
    ASSERT_TRUE(process.call(0));
    const auto failed = process.expect_failure();
    EXPECT_EQ(failed.outcome, static_cast<std::uint32_t>(c.outcome)) << c.body;
    EXPECT_STREQ(failed.cause, c.cause) << c.body;
    EXPECT_THAT(failed.message, HasSubstr(c.said)) << c.body;
  }
}

TEST_F(CandidateProcess, AFailureWhileBeingTimedIsToldToo) {
  auto& process = start(job_of("__trap();"));
  ASSERT_TRUE(process.time({0}));
  EXPECT_STREQ(process.expect_failure().cause, "trap");
}

TEST_F(CandidateProcess, WritesBesideScratchAreFound) {
  CandidateJob job = job_of("x[i - 6] = 0; y[i] = 1;");
  job.plan.tensors[0].role = BoundTensor::Role::kScratch;
  job.plan.tensors[0].info.name = "partial";
  auto& process = start(job);
  ASSERT_TRUE(process.call(0));
  const auto failed = process.expect_failure();
  EXPECT_EQ(failed.outcome, static_cast<std::uint32_t>(Outcome::kIllegalWrite));
  EXPECT_THAT(failed.message, HasSubstr("partial"));
}

TEST_F(CandidateProcess, WithSourcesWritableTheJudgeSeesWhatAKernelWrote) {
  CandidateJob job = job_of("if (i == 2) x[i] = 42; y[i] = 0;");
  job.sources_writable = true;
  auto& process = start(job);
  ASSERT_TRUE(process.call(0));
  process.expect(MessageType::kCalled);
  EXPECT_EQ(process.values(0, 0, kSource), (std::vector<float>{1, -2, 42, -4, 5, -6}));
}

TEST_F(CandidateProcess, CountsWhatACallDoesWithLaunchesOfOneShapeTogether) {
  CandidateJob job = job_of("y[i] = x[i] * 2;");
  job.plan.launches.assign(3, job.plan.launches[0]);
  job.plan.launches[1].block = {3, 1, 1};
  auto& process = start(job);
  ASSERT_TRUE(process.call(0, true));
  const std::string body = process.expect(MessageType::kProfiled);
  std::vector<protocol::LaunchCounts> rows(2);
  protocol::ProfiledBody head{};
  ASSERT_EQ(body.size(), sizeof head + rows.size() * sizeof rows[0]);
  std::memcpy(&head, body.data(), sizeof head);
  std::memcpy(static_cast<void*>(rows.data()), body.data() + sizeof head,
              body.size() - sizeof head);
  EXPECT_EQ(head.rows, 2u);
  EXPECT_EQ(head.operators, 0u);
  EXPECT_EQ(head.incomplete, 0u);
  EXPECT_EQ(rows[0].launch, 0u);
  EXPECT_EQ(rows[0].launches, 2u);
  EXPECT_EQ(total_flops(rows[0].counters), 2u * kCount);
  EXPECT_EQ(rows[1].launch, 1u);
  EXPECT_EQ(rows[1].launches, 1u);
  EXPECT_EQ(total_flops(rows[1].counters), 3u);
  // The next call is a usual call.
  ASSERT_TRUE(process.call(0));
  EXPECT_EQ(process.expect(MessageType::kCalled).size(), sizeof(protocol::CalledBody));
}

TEST_F(CandidateProcess, FindingsComeWithTheCallAndWithTheFailure) {
  CandidateJob job =
      job_of("float v = y[i]; y[i] = v == 1 ? 2 : x[i]; if (x[0] < 0) y[i + 6] = 1;");
  job.sanitize = "memory";
  auto& process = start(job);
  process.add(1, 0, kSource, std::vector<float>(kCount, -1));
  process.add(1, 1, kWork);
  process.map();
  ASSERT_TRUE(process.call(0));
  const std::string body = process.expect(MessageType::kCalled);
  const auto found =
      JudgedProcess::bodies_of(std::string_view(body).substr(sizeof(protocol::CalledBody)));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_STREQ(found[0].region, "output y");
  EXPECT_EQ(found[0].count, static_cast<std::uint64_t>(kCount));
  ASSERT_TRUE(process.call(1));
  EXPECT_STREQ(process.expect_failure().cause, "out_of_bounds_write");
  const auto findings = process.findings();
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[0].kind, static_cast<std::uint32_t>(ptx::FindingKind::kFault));
  EXPECT_EQ(findings[1].kind, static_cast<std::uint32_t>(ptx::FindingKind::kUninitialized));
}

TEST_F(CandidateProcess, LongTextsAreCutAndEnd) {
  CandidateJob job = job_of("y[i + 6] = x[i];");
  job.plan.tensors[1].info.name = std::string(5000, 'y');
  auto& process = start(job);
  ASSERT_TRUE(process.call(0));
  const auto failed = process.expect_failure();
  EXPECT_EQ(strnlen(failed.message, sizeof failed.message), sizeof failed.message - 1);
}

TEST_F(CandidateProcess, WhatCannotBeLoadedIsAFailureBeforeLoaded) {
  CandidateJob job = job_of("y[i] = x[i];");
  job.image = "this is no PTX";
  JudgedProcess process(pack_job(job), job.nonce);
  const auto failed = process.expect_failure();
  EXPECT_EQ(failed.outcome, static_cast<std::uint32_t>(Outcome::kCrash));
  EXPECT_NE(failed.message[0], '\0');
}

TEST_F(CandidateProcess, ScratchThatFitsNowhereIsOutOfMemory) {
  CandidateJob job = job_of("y[i] = x[i];");
  job.plan.tensors.push_back(tensor(BoundTensor::Role::kScratch, "huge"));
  job.plan.tensors[2].info.shape = {std::int64_t{1} << 48};
  JudgedProcess process(pack_job(job), job.nonce);
  const auto failed = process.expect_failure();
  EXPECT_EQ(failed.outcome, static_cast<std::uint32_t>(Outcome::kOutOfMemory));
}

TEST_F(CandidateProcess, AnUnknownKernelIsAFailureOfTheCandidate) {
  CandidateJob job = job_of("y[i] = x[i];");
  job.plan.launches[0].symbol = "other";
  JudgedProcess process(pack_job(job), job.nonce);
  Message message;
  ASSERT_EQ(process.receive(message), ReceiveStatus::kOk);
  if (message.type == MessageType::kLoaded) {
    process.add(0, 0, kSource, kInput);
    process.add(0, 1, kWork);
    process.map();
    ASSERT_TRUE(process.call(0));
    EXPECT_THAT(process.expect_failure().message, HasSubstr("no kernel of this name"));
  } else {
    EXPECT_EQ(message.type, MessageType::kFailed);
  }
}

TEST_F(CandidateProcess, MessagesThatMakeNoSenseEndInAFailureNotInACrash) {
  const std::string entry = bytes_of(protocol::BufferEntry{});
  const std::pair<MessageType, std::string> messages[] = {
      {MessageType::kCall, ""},
      {MessageType::kCall, "abc"},
      {MessageType::kTime, ""},
      {MessageType::kTime, "1234567"},
      {MessageType::kBuffers, entry},
      {MessageType::kBuffers, entry + entry},
      {MessageType::kCall, bytes_of(protocol::CallBody{77})},
      {MessageType::kTime, bytes_of(protocol::TimeBody{1, 0}) + bytes_of(std::uint32_t{77})}};
  for (const auto& [type, body] : messages) {
    auto& process = start(job_of("y[i] = x[i];"));
    ASSERT_TRUE(process.send(type, body));
    const auto failed = process.expect_failure();
    EXPECT_EQ(failed.outcome, static_cast<std::uint32_t>(Outcome::kCrash));
    EXPECT_NE(failed.message[0], '\0');
  }
}

TEST_F(CandidateProcess, AStrangerOnTheChannelIsNotServed) {
  const CandidateJob job = job_of("y[i] = x[i];");
  JudgedProcess process(pack_job(job), job.nonce + 1);
  Message message;
  EXPECT_EQ(process.receive(message), ReceiveStatus::kMalformed);
  // The process may have ended before this call arrives.
  process.call(0);
  EXPECT_EQ(process.exit_code(), 0);
}

TEST_F(CandidateProcess, OneThatIsKilledClosesTheChannel) {
  auto& process = start(job_of("y[i] = x[i];"));
  kill(process.pid(), SIGSEGV);
  Message message;
  EXPECT_EQ(process.receive(message), ReceiveStatus::kClosed);
  EXPECT_EQ(process.exit_code(), -SIGSEGV);
  EXPECT_FALSE(process.call(0));
}

TEST_F(CandidateProcess, AnEndlessKernelIsATimeoutForTheJudgeAndDiesByKill) {
  auto& process = start(job_of("while (*(volatile float*)x > 0) y[i] = 0;"));
  ASSERT_TRUE(process.call(0));
  Message message;
  EXPECT_EQ(process.receive(message, std::chrono::milliseconds(300)), ReceiveStatus::kTimeout);
  kill(process.pid(), SIGKILL);
  EXPECT_EQ(process.receive(message), ReceiveStatus::kClosed);
  EXPECT_EQ(process.exit_code(), -SIGKILL);
}

TEST_F(CandidateProcess, AJudgeThatGoesAwayEndsIt) {
  const CandidateJob job = job_of("y[i] = x[i];");
  JudgedProcess process(pack_job(job), job.nonce);
  process.hang_up();
  EXPECT_EQ(process.exit_code(), 0);
}

TEST(CandidateJob, WhatIsNoJobClosesTheChannelWithoutAWord) {
  auto [readable, other] = socket_pair();
  JudgedProcess process(readable, 1);
  Message message;
  EXPECT_EQ(process.receive(message), ReceiveStatus::kClosed);
  EXPECT_EQ(process.exit_code(), 8);
}

}  // namespace
}  // namespace kbench::worker
