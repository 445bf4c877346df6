// SPDX-License-Identifier: MIT
// The driver against fork servers and children that misbehave: an error or a status, never a hang.
#include "run/process/worker_host.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <thread>

#include "kbench/error.hpp"
#include "os/installation.hpp"
#include "run/fake_host.hpp"
#include "run/process/judge_client.hpp"

namespace kbench::run {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

/// Whether a process of this number runs; a zombie that nobody has reaped yet does not.
bool alive(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(stat, text)) return false;
  const auto name_end = text.rfind(") ");
  return name_end != std::string::npos && text.substr(name_end + 2, 1) != "Z";
}

void expect_gone(pid_t pid) {
  for (int i = 0; i < 300 && alive(pid); ++i) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_FALSE(alive(pid));
}

protocol::Clock::time_point in(milliseconds time) { return protocol::Clock::now() + time; }

TEST(WorkerHost, LearnsTheVersionOfTorch) {
  WorkerHost host(fake_installation("ok"), -1, short_limits());
  EXPECT_EQ(host.torch_version(), "2.11.0+fake");
  EXPECT_EQ(host.torch_version(), "2.11.0+fake");
}

/// What a sandbox lets its process read has to be there when it is put on.
TEST(WorkerHost, WhatCandidatesReadIsThereBeforeThem) {
  char pattern[] = "/tmp/kbench-test-XXXXXX";
  const std::filesystem::path folder = mkdtemp(pattern);
  Installation installation = fake_installation("ok");
  installation.cache = folder / "home" / "cache";
  {
    WorkerHost host(installation, -1, short_limits());
    host.torch_version();
    EXPECT_TRUE(std::filesystem::is_directory(installation.cache / "host-headers"));
  }
  std::filesystem::remove_all(folder);
}

TEST(WorkerHost, AMissingWorkerIsAnError) {
  Installation installation = fake_installation("ok");
  installation.worker = "/nowhere/kbench-worker";
  EXPECT_THROW(WorkerHost(installation, -1), Error);
}

class BadStart : public testing::TestWithParam<const char*> {};

TEST_P(BadStart, IsAnErrorForEverybodyWhoAsks) {
  const Stopwatch watch;
  WorkerHost host(fake_installation(GetParam()), -1, short_limits());
  const auto said = error_of([&] { host.torch_version(); });
  EXPECT_THAT(said, HasSubstr("kbench-worker"));
  EXPECT_THAT(said, HasSubstr("kbench doctor"));
  EXPECT_THROW(host.torch_version(), Error);
  EXPECT_THROW(JudgeClient(host, -1), Error);
}

INSTANTIATE_TEST_SUITE_P(ForkServers, BadStart,
                         testing::Values("dies_before_ready", "hangs_up_before_ready",
                                         "speaks_garbage", "ready_is_no_json",
                                         "ready_without_torch", "ready_with_a_number"),
                         [](const auto& test) { return std::string(test.param); });

TEST(WorkerHost, OneThatDiesLeavesItsLastWords) {
  WorkerHost host(fake_installation("dies_before_ready"), -1, short_limits());
  EXPECT_THAT(error_of([&] { host.torch_version(); }), HasSubstr("ImportError: no torch here"));
}

TEST(WorkerHost, OneThatIsNeverReadyIsAnErrorAtTheLimit) {
  const Stopwatch watch;
  auto limits = short_limits();
  limits.start = milliseconds(300);
  WorkerHost host(fake_installation("never_ready"), -1, limits);
  EXPECT_THAT(error_of([&] { host.torch_version(); }), HasSubstr("in time"));
}

TEST(WorkerHost, CancellingEndsTheWaitForTorch) {
  const Stopwatch watch;
  const CancelSwitch cancel;
  WorkerHost host(fake_installation("never_ready"), cancel.fd());
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(200));
    cancel.pull();
  });
  EXPECT_THROW(host.torch_version(), Cancelled);
  later.join();
}

TEST(WorkerHost, CancellingEndsTheWaitForAFork) {
  const Stopwatch watch;
  const CancelSwitch cancel;
  WorkerHost host(fake_installation("never_forks"), cancel.fd());
  host.torch_version();
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(200));
    cancel.pull();
  });
  EXPECT_THROW(JudgeClient(host, cancel.fd()), Cancelled);
  later.join();
}

class BadFork : public testing::TestWithParam<const char*> {};

TEST_P(BadFork, IsAnError) {
  const Stopwatch watch;
  auto limits = short_limits();
  limits.fork = milliseconds(500);
  WorkerHost host(fake_installation(GetParam()), -1, limits);
  EXPECT_EQ(host.torch_version(), "2.11.0+fake");
  EXPECT_THAT(error_of([&] { JudgeClient judge(host, -1); }), HasSubstr("kbench-worker"));
  EXPECT_THROW(StartedCandidate(host, {}, 1u << 30), Error);
}

INSTANTIATE_TEST_SUITE_P(ForkServers, BadFork,
                         testing::Values("dies_on_fork", "never_forks", "forks_no_json",
                                         "cannot_fork"),
                         [](const auto& test) { return std::string(test.param); });

TEST(WorkerHost, EndsItsChildrenWithItself) {
  pid_t pid = 0;
  {
    const Stopwatch watch;
    WorkerHost host(fake_installation("ok"), -1, short_limits());
    const ChildLog log;
    auto [ours, theirs] = socket_pair();
    pid = host.fork("judge", 1, {theirs.value(), log.fd()});
    EXPECT_TRUE(alive(pid));
  }
  expect_gone(pid);
}

TEST(StartedCandidate, TellsHowItEnded) {
  const Stopwatch watch;
  struct Case {
    const char* mode;
    bool signaled;
    int code;
  };
  for (const auto& c : {Case{"exits", false, 7}, Case{"aborts", true, SIGABRT}}) {
    WorkerHost host(fake_installation("ok", "ok", c.mode), -1, short_limits());
    StartedCandidate candidate(host, {}, 1u << 30);
    const auto status = candidate.finish(milliseconds(3000));
    EXPECT_EQ(status.signaled, c.signaled) << c.mode;
    EXPECT_EQ(status.code, c.code) << c.mode;
    EXPECT_FALSE(candidate.over_memory());
  }
}

TEST(StartedCandidate, OneThatWaitsIsKilled) {
  const Stopwatch watch;
  WorkerHost host(fake_installation("ok"), -1, short_limits());
  StartedCandidate candidate(host, {}, 1u << 30);
  candidate.wait_settled(milliseconds(3000), -1);
  EXPECT_TRUE(alive(candidate.pid()));
  EXPECT_EQ(host.wait_exit(candidate.pid(), in(milliseconds(50))), std::nullopt);
  const auto status = candidate.finish(milliseconds(0));
  EXPECT_TRUE(status.signaled);
  EXPECT_EQ(status.code, SIGKILL);
  expect_gone(candidate.pid());
  EXPECT_EQ(candidate.log(), "hello from the candidate\n");
}

TEST(StartedCandidate, IsKilledWhenItsOwnerForgetsIt) {
  const Stopwatch watch;
  WorkerHost host(fake_installation("ok"), -1, short_limits());
  pid_t pid = 0;
  {
    const StartedCandidate candidate(host, {}, 1u << 30);
    pid = candidate.pid();
  }
  expect_gone(pid);
}

TEST(StartedCandidate, CannotOutgrowItsLog) {
  const Stopwatch watch;
  WorkerHost host(fake_installation("ok", "ok", "floods"), -1, short_limits());
  StartedCandidate candidate(host, {}, 1u << 30);
  candidate.wait_settled(milliseconds(3000), -1);
  const auto log = candidate.log();
  EXPECT_LE(log.size(), 1u << 20);
  EXPECT_GT(log.size(), 900u << 10);
  EXPECT_TRUE(candidate.floods());
  EXPECT_EQ(log.substr(0, 100), std::string(100, 'x'));
}

TEST(StartedCandidate, CannotHurtItsLog) {
  const Stopwatch watch;
  for (const char* mode : {"seeks_far_away", "truncates"}) {
    WorkerHost host(fake_installation("ok", "ok", mode), -1, short_limits());
    StartedCandidate candidate(host, {}, 1u << 30);
    candidate.wait_settled(milliseconds(3000), -1);
    EXPECT_LE(candidate.log().size(), 1u << 20) << mode;
  }
}

TEST(StartedCandidate, IsKilledOverItsMemory) {
  const Stopwatch watch;
  WorkerHost host(fake_installation("ok", "ok", "eats_memory"), -1, short_limits());
  StartedCandidate candidate(host, {}, std::size_t{100} << 20);
  EXPECT_TRUE(host.wait_exit(candidate.pid(), in(milliseconds(5000))));
  const auto status = candidate.finish(milliseconds(0));
  EXPECT_EQ(status.code, SIGKILL);
  EXPECT_TRUE(candidate.over_memory());
}

TEST(StartedCandidate, IsKilledWhenItsChildrenHaveTooMuchTogether) {
  const Stopwatch watch;
  WorkerHost host(fake_installation("ok", "ok", "children_eat_memory"), -1, short_limits());
  StartedCandidate candidate(host, {}, std::size_t{150} << 20);
  EXPECT_TRUE(host.wait_exit(candidate.pid(), in(milliseconds(5000))));
  EXPECT_EQ(candidate.finish(milliseconds(0)).code, SIGKILL);
  EXPECT_TRUE(candidate.over_memory());
}

TEST(StartedCandidate, IsKilledOverFilesInMemoryThatItDoesNotMap) {
  const Stopwatch watch;
  WorkerHost host(fake_installation("ok", "ok", "hides_memory"), -1, short_limits());
  StartedCandidate candidate(host, {}, std::size_t{150} << 20);
  EXPECT_TRUE(host.wait_exit(candidate.pid(), in(milliseconds(5000))));
  EXPECT_EQ(candidate.finish(milliseconds(0)).code, SIGKILL);
  EXPECT_TRUE(candidate.over_memory());
}

TEST(StartedCandidate, CancellingEndsTheWaitUntilItIsSettled) {
  const Stopwatch watch;
  const CancelSwitch cancel;
  cancel.pull();
  WorkerHost host(fake_installation("ok", "ok", "eats_memory"), -1, short_limits());
  const StartedCandidate candidate(host, {}, std::size_t{1} << 30);
  EXPECT_THROW(candidate.wait_settled(std::chrono::seconds(60), cancel.fd()), Cancelled);
}

TEST(StartedCandidate, AnEndThatNobodyTellsOfIsAnError) {
  const Stopwatch watch;
  auto limits = short_limits();
  limits.exit = milliseconds(300);
  WorkerHost host(fake_installation("never_tells_of_exits"), -1, limits);
  StartedCandidate candidate(host, {}, 1u << 30);
  EXPECT_THAT(error_of([&] { candidate.finish(milliseconds(0)); }),
              HasSubstr("does not end after SIGKILL"));
}

}  // namespace
}  // namespace kbench::run
