// SPDX-License-Identifier: MIT
#include "run/process/ahead_of_turn.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <thread>

#include "os/subprocess.hpp"
#include "run/process/host_waits.hpp"
#include "run/process/process_memory.hpp"

namespace kbench::run {
namespace {

using std::chrono::milliseconds;

[[noreturn]] void spin() {
  for (std::atomic<unsigned> turns = 0;; ++turns) {
  }
}

void pin_to_one_processor() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  ::sched_setaffinity(0, sizeof one, &one);
}

/// A process that has a child in a session of its own, both without end; all of them are gone after
/// it.
class Spinners {
 public:
  Spinners() {
    auto [ours, theirs] = socket_pair();
    root_ = ::fork();
    if (root_ == 0) {
      ::setsid();
      pin_to_one_processor();
      if (::fork() == 0) {
        ::setsid();
        [[maybe_unused]] const auto sent = ::write(theirs.value(), "", 1);
        spin();
      }
      spin();
    }
    char byte = 0;
    EXPECT_EQ(::read(ours.value(), &byte, 1), 1);
  }
  ~Spinners() {
    for (const pid_t pid : family()) ::kill(pid, SIGKILL);
    ::waitpid(root_, nullptr, 0);
  }
  Spinners(const Spinners&) = delete;
  Spinners& operator=(const Spinners&) = delete;

  pid_t pid() const { return root_; }
  std::vector<pid_t> family() const { return family_of(running_processes(), root_, ::getpid()); }
  /// How many of them are stopped.
  std::size_t stopped() const {
    std::size_t count = 0;
    for (const auto& process : running_processes())
      for (const pid_t pid : family()) count += process.pid == pid && process.state == 'T' ? 1 : 0;
    return count;
  }
  /// Waits until `count` of them are stopped, because a process that waits for a processor stops
  /// only when it gets one.
  bool have_stopped(std::size_t count) const {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (stopped() != count) {
      if (std::chrono::steady_clock::now() > limit) return false;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return true;
  }

 private:
  pid_t root_ = -1;
};

TEST(AheadOfTurn, AFamilyStopsWholeAndGoesOn) {
  const Spinners spinners;
  EXPECT_EQ(spinners.family().size(), 2u);
  EXPECT_EQ(spinners.stopped(), 0u);
  stop_families({spinners.pid()});
  EXPECT_TRUE(spinners.have_stopped(2));
  const double before = processor_seconds(spinners.pid());
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_EQ(processor_seconds(spinners.pid()), before);
  continue_families({spinners.pid()});
  EXPECT_EQ(spinners.stopped(), 0u);
}

TEST(AheadOfTurn, StandsStillWhileATimeIsTaken) {
  AheadOfTurn all;
  const Spinners before, meanwhile;
  all.add(before.pid());
  EXPECT_FALSE(all.is_stopped());
  {
    const AheadOfTurn::Pause one(all);
    EXPECT_TRUE(all.is_stopped());
    {
      const AheadOfTurn::Pause other(all);
      all.add(meanwhile.pid());
    }
    EXPECT_TRUE(before.have_stopped(2));
    EXPECT_TRUE(meanwhile.have_stopped(2));
  }
  EXPECT_FALSE(all.is_stopped());
  EXPECT_EQ(before.stopped() + meanwhile.stopped(), 0u);
  all.remove(before.pid());
  const AheadOfTurn::Pause again(all);
  EXPECT_EQ(before.stopped(), 0u);
  EXPECT_TRUE(meanwhile.have_stopped(2));
}

TEST(AheadOfTurn, HasALowPriority) {
  AheadOfTurn all;
  const Spinners spinners;
  all.add(spinners.pid());
  EXPECT_GE(::getpriority(PRIO_PROCESS, static_cast<id_t>(spinners.pid())), 5);
}

TEST(AheadOfTurn, ProcessesThatHaveEndedCount) {
  auto [ours, theirs] = socket_pair();
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (::fork() == 0) {
      while (std::clock() < CLOCKS_PER_SEC / 5) {
      }
      ::_exit(0);
    }
    ::wait(nullptr);
    [[maybe_unused]] const auto sent = ::write(theirs.value(), "", 1);
    while (true) ::pause();
  }
  char byte = 0;
  EXPECT_EQ(::read(ours.value(), &byte, 1), 1);
  EXPECT_GT(processor_seconds(pid), 0.1);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  EXPECT_EQ(processor_seconds(pid), 0);
}

TEST(HostWaits, AreLongWhereOthersHaveTheProcessor) {
  const Spinners first, second;
  const HostWaits waits({first.pid()});
  std::this_thread::sleep_for(milliseconds(1000));
  EXPECT_GT(waits.share(), kMostHostWaits);
}

TEST(HostWaits, AreShortForAProcessThatWantsNone) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    while (true) ::pause();
  }
  const HostWaits waits({pid});
  std::this_thread::sleep_for(milliseconds(300));
  EXPECT_LT(waits.share(), 0.1);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  EXPECT_EQ(HostWaits({pid}).share(), 0);
}

}  // namespace
}  // namespace kbench::run
