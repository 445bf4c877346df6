// SPDX-License-Identifier: MIT
#include "worker/device/host_tasks.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

namespace kbench::worker {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kPage = 4096;

/// A thread that computes, then sleeps, and then ends, each on request.
class Busy {
 public:
  Busy() {
    while (!started_) std::this_thread::yield();
  }
  ~Busy() {
    sleeps_ = ends_ = true;
    ends_.notify_all();
    thread_.join();
  }
  void sleep() { sleeps_ = true; }

 private:
  std::atomic<bool> started_ = false, sleeps_ = false, ends_ = false;
  std::thread thread_{[this] {
    started_ = true;
    while (!sleeps_) {
    }
    ends_.wait(false);
  }};
};

TEST(HostTasks, KnowWhoHasBegunSince) {
  const HostTasks before = host_tasks();
  EXPECT_TRUE(begun_since(before).threads.empty());
  const Busy busy;
  EXPECT_EQ(begun_since(before).threads.size(), 1u);
  EXPECT_TRUE(begun_since(host_tasks()).threads.empty());
}

TEST(HostTasks, HaveStoppedWhenEachThreadHas) {
  const pid_t child = fork();
  if (child == 0) {
    std::thread([] { pause(); }).detach();
    while (true) {
    }
  }
  EXPECT_FALSE(has_stopped(child));
  kill(child, SIGSTOP);
  const auto end = std::chrono::steady_clock::now() + milliseconds(10000);
  while (!has_stopped(child) && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(milliseconds(1));
  EXPECT_TRUE(has_stopped(child));
  kill(child, SIGCONT);
  EXPECT_FALSE(has_stopped(child));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(has_stopped(child)) << "nobody is there any more";
}

TEST(HostTasks, UseNothingOnceTheyAreSeenToHaveStopped) {
  constexpr int kThreads = 8, kTimes = 20;
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 1; i < kThreads; ++i)
      std::thread([] {
        while (true) {
        }
      }).detach();
    while (true) {
    }
  }
  double used_s = 0;
  for (int i = 0; i < kTimes; ++i) {
    std::this_thread::sleep_for(milliseconds(3));
    kill(child, SIGSTOP);
    const Stopped stopped = wait_until_stopped(child);
    EXPECT_LT(stopped.went_on_s, 0.01);
    std::this_thread::sleep_for(milliseconds(3));
    used_s += processor_s(child).value() - stopped.processor_s.value();
    kill(child, SIGCONT);
  }
  EXPECT_LT(used_s, 1e-4);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(HostTasks, AreIdleOnceTheySleepOrHaveEnded) {
  const HostTasks before = host_tasks();
  HostTasks begun;
  {
    Busy busy;
    begun = begun_since(before);
    EXPECT_FALSE(wait_until_idle(begun, milliseconds(50)));
    busy.sleep();
    EXPECT_TRUE(wait_until_idle(begun, milliseconds(10000)));
  }
  EXPECT_TRUE(wait_until_idle(begun, milliseconds(10000)));
  EXPECT_TRUE(wait_until_idle({}, milliseconds(10000)));
}

TEST(HostTasks, MemoryIsReadableWhereEachPageIs) {
  // More pages than a single system call checks.
  constexpr std::size_t kPages = 3000;
  void* const memory =
      mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* const data = static_cast<std::byte*>(memory);
  EXPECT_TRUE(is_readable(data, kPages * kPage));
  EXPECT_TRUE(is_readable(data + 5, 0));
  for (const std::size_t page : {std::size_t{0}, std::size_t{1500}, kPages - 1}) {
    ASSERT_EQ(mprotect(data + page * kPage, kPage, PROT_NONE), 0);
    EXPECT_FALSE(is_readable(data, kPages * kPage)) << page;
    EXPECT_FALSE(is_readable(data + page * kPage + 7, 1)) << page;
    if (page > 0) {
      EXPECT_TRUE(is_readable(data, page * kPage)) << page;
      EXPECT_FALSE(is_readable(data + 1, page * kPage)) << page;
    }
    ASSERT_EQ(mprotect(data + page * kPage, kPage, PROT_READ), 0);
  }
  munmap(memory, kPages * kPage);
}

}  // namespace
}  // namespace kbench::worker
