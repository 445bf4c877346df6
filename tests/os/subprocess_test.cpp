// SPDX-License-Identifier: MIT
#include "os/subprocess.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "kbench/error.hpp"

namespace kbench {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Clock = std::chrono::steady_clock;

SpawnOptions shell(const std::string& script) { return {{"/bin/sh", "-c", script}, {}, {}}; }

CommandResult run_shell(const std::string& script, milliseconds limit = seconds(20)) {
  return run_command(shell(script), limit);
}

/// Whether a process of that number exists and is no zombie.
bool alive(pid_t pid) {
  const auto state = run_shell("sed 's/.*) //; s/ .*//' /proc/" + std::to_string(pid) + "/stat");
  return !state.output.empty() && state.output[0] != 'Z';
}

bool dies_soon(pid_t pid) {
  for (int i = 0; i < 100 && alive(pid); ++i) std::this_thread::sleep_for(milliseconds(20));
  return !alive(pid);
}

TEST(RunCommand, GivesStatusAndBothStreams) {
  const CommandResult result = run_shell("echo out; echo err >&2; exit 3");
  EXPECT_FALSE(result.status.signaled);
  EXPECT_EQ(result.status.code, 3);
  EXPECT_EQ(result.output, "out\n");
  EXPECT_EQ(result.error, "err\n");
  EXPECT_FALSE(result.timed_out);
}

TEST(RunCommand, GivesTheSignalThatEndedIt) {
  const CommandResult result = run_shell("kill -SEGV $$");
  EXPECT_TRUE(result.status.signaled);
  EXPECT_EQ(result.status.code, SIGSEGV);
}

TEST(RunCommand, HandsOverInputOfAnySize) {
  EXPECT_EQ(run_command(shell("cat"), seconds(20), "hello").output, "hello");
  const std::string large(3'000'000, 'x');
  EXPECT_EQ(run_command(shell("wc -c"), seconds(20), large).output, "3000000\n");
  EXPECT_EQ(run_command(shell("true"), seconds(20), large).status.code, 0);
  EXPECT_EQ(run_shell("wc -c").output, "0\n");
}

TEST(RunCommand, KeepsAtMostTheBoundAndGoesOn) {
  const CommandResult result =
      run_command(shell("head -c 5000000 /dev/zero; head -c 5000000 /dev/zero >&2; exit 7"),
                  seconds(20), {}, 1000);
  EXPECT_EQ(result.output.size(), 1000u);
  EXPECT_EQ(result.error.size(), 1000u);
  EXPECT_EQ(result.status.code, 7);
  EXPECT_EQ(
      run_command(shell("head -c 5000000 /dev/zero"), seconds(20), {}, 1u << 23).output.size(),
      5'000'000u);
}

TEST(RunCommand, KillsTheWholeGroupAtTheLimit) {
  const auto start = Clock::now();
  const CommandResult result = run_shell("sleep 60 & echo $!; wait", milliseconds(300));
  EXPECT_TRUE(result.timed_out);
  EXPECT_TRUE(result.status.signaled);
  EXPECT_EQ(result.status.code, SIGKILL);
  EXPECT_LT(Clock::now() - start, seconds(10));
  EXPECT_TRUE(dies_soon(std::stoi(result.output)));
}

TEST(RunCommand, DoesNotWaitForWhatTheCommandLeftBehind) {
  const auto start = Clock::now();
  const CommandResult in_group = run_shell("sleep 60 & echo $!");
  EXPECT_TRUE(dies_soon(std::stoi(in_group.output)));
  const CommandResult outside = run_shell("setsid sleep 5 & echo done");
  EXPECT_EQ(outside.output, "done\n");
  EXPECT_LT(Clock::now() - start, seconds(5));
}

TEST(RunCommand, EndsWhenCancelled) {
  const Fd cancel(::eventfd(0, EFD_CLOEXEC));
  std::thread canceller([&] {
    std::this_thread::sleep_for(milliseconds(100));
    ::eventfd_write(cancel.value(), 1);
  });
  const CommandResult result =
      run_command(shell("sleep 60"), seconds(30), {}, 1 << 20, cancel.value());
  canceller.join();
  EXPECT_TRUE(result.cancelled);
  EXPECT_FALSE(result.timed_out);
  EXPECT_TRUE(result.status.signaled);
}

TEST(RunCommand, SetsTheEnvironmentOnTopOfOurs) {
  ::setenv("KBENCH_TEST_KEPT", "kept", 1);
  ::setenv("KBENCH_TEST_CHANGED", "old", 1);
  SpawnOptions options = shell("echo $KBENCH_TEST_KEPT $KBENCH_TEST_CHANGED $KBENCH_TEST_NEW");
  options.env = {{"KBENCH_TEST_CHANGED", "changed"}, {"KBENCH_TEST_NEW", "new"}};
  EXPECT_EQ(run_command(options, seconds(20)).output, "kept changed new\n");
}

TEST(RunCommand, SaysWhatCannotBeStarted) {
  try {
    run_command({{"/nonexistent/program"}, {}, {}}, seconds(1));
    FAIL() << "started a program that does not exist";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "cannot start /nonexistent/program: No such file or directory");
  }
  EXPECT_THROW(run_command({{"/etc/passwd"}, {}, {}}, seconds(1)), Error);
}

TEST(Child, GetsTheNamedDescriptorsAndNoOthers) {
  std::array<int, 2> leak;
  ASSERT_EQ(::pipe(leak.data()), 0);  // without close-on-exec
  const CommandResult result = run_shell("ls /proc/self/fd");
  EXPECT_EQ(result.output, "0\n1\n2\n3\n");  // 3: the folder that ls reads
  ::close(leak[0]);
  ::close(leak[1]);
}

TEST(Child, DescriptorsMayCrossOver) {
  auto [a, a_end] = socket_pair();
  auto [b, b_end] = socket_pair();
  SpawnOptions options = shell("eval \"echo to-b >&$A; echo to-a >&$B\"");
  // Each one's target is the other's own number.
  options.fds = {{a_end.value(), b_end.value()}, {b_end.value(), a_end.value()}};
  options.env = {{"A", std::to_string(a_end.value())}, {"B", std::to_string(b_end.value())}};
  Child child(options);
  EXPECT_EQ(child.wait().code, 0);
  std::array<char, 16> text{};
  EXPECT_EQ(::read(a.value(), text.data(), text.size()), 5);
  EXPECT_STREQ(text.data(), "to-a\n");
  EXPECT_EQ(::read(b.value(), text.data(), text.size()), 5);
  EXPECT_STREQ(text.data(), "to-b\n");
}

TEST(Child, PidfdBecomesReadableAtTheEnd) {
  Child child(shell("exit 5"));
  pollfd poll{child.pidfd(), POLLIN, 0};
  ASSERT_EQ(::poll(&poll, 1, 10'000), 1);
  EXPECT_EQ(child.wait().code, 5);
  EXPECT_EQ(child.wait().code, 5) << "a second wait tells the same";
  child.kill_group();
}

TEST(Child, DestructorAndAssignmentKill) {
  pid_t first = -1, second = -1;
  {
    Child child(shell("sleep 60"));
    first = child.pid();
    child = Child(shell("sleep 60"));
    second = child.pid();
    EXPECT_TRUE(dies_soon(first));
    EXPECT_TRUE(alive(second));
    const Child moved(std::move(child));
    EXPECT_EQ(moved.pid(), second);
    EXPECT_TRUE(alive(second));
  }
  EXPECT_TRUE(dies_soon(second));
}

TEST(Child, DiesWithItsParent) {
  auto [ours, theirs] = socket_pair();
  const pid_t parent = ::fork();
  if (parent == 0) {
    const Child child(shell("exec sleep 60"));
    const pid_t pid = child.pid();
    if (::write(theirs.value(), &pid, sizeof pid) != sizeof pid) ::_exit(1);
    ::kill(::getpid(), SIGKILL);
  }
  pid_t grandchild = -1;
  ASSERT_EQ(::read(ours.value(), &grandchild, sizeof grandchild),
            static_cast<ssize_t>(sizeof grandchild));
  ASSERT_EQ(::waitpid(parent, nullptr, 0), parent);
  EXPECT_TRUE(dies_soon(grandchild));
}

TEST(Child, HasDefaultSignalsThoughOursAreBlockedOrIgnored) {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const auto old = ::signal(SIGPIPE, SIG_IGN);
  const CommandResult terminated = run_shell("kill -TERM $$; exit 0");
  const CommandResult piped = run_shell("kill -PIPE $$; exit 0");
  ::signal(SIGPIPE, old);
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  EXPECT_TRUE(terminated.status.signaled);
  EXPECT_TRUE(piped.status.signaled);
}

}  // namespace
}  // namespace kbench
