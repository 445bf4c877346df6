// SPDX-License-Identifier: MIT
#include "run/process/process_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "os/sandbox/sandbox.hpp"
#include "os/subprocess.hpp"

namespace kbench::run {
namespace {

using testing::Contains;
using testing::UnorderedElementsAre;

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

/// A process with children; all of them are gone after it.
class Tree {
 public:
  /// Each has as many megabytes of its own, and all of them `shared` of the first one's.
  Tree(int children, std::size_t own, std::size_t shared) {
    int ready[2];
    if (::pipe(ready) != 0) return;
    root_ = ::fork();
    if (root_ == 0) {
      ::setsid();
      const std::string common(shared * kMegabyte, 'x');
      for (int i = 0; i < children; ++i) {
        if (::fork() != 0) continue;
        if (i == 0) ::setsid();  // out of the session, but not of the family
        const std::string mine(own * kMegabyte, 'y');
        wait(ready[1]);
      }
      wait(ready[1]);
    }
    ::close(ready[1]);
    char byte = 0;
    for (int i = 0; i < children + 1; ++i)
      [[maybe_unused]] const auto ignored = ::read(ready[0], &byte, 1);
    ::close(ready[0]);
  }
  ~Tree() {
    for (const pid_t pid : family()) ::kill(pid, SIGKILL);
    ::waitpid(root_, nullptr, 0);
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  std::vector<pid_t> family() const { return family_of(running_processes(), root_, ::getpid()); }

 private:
  [[noreturn]] static void wait(int ready) {
    [[maybe_unused]] const auto ignored = ::write(ready, "", 1);
    while (true) ::pause();
  }
  pid_t root_ = -1;
};

TEST(ProcessMemory, OfAllProcessesTogetherIsBounded) {
  const Tree tree(4, 50, 0);
  EXPECT_EQ(tree.family().size(), 5u);
  EXPECT_FALSE(have_more_memory({tree.family().front()}, 150 * kMegabyte));
  EXPECT_TRUE(have_more_memory(tree.family(), 150 * kMegabyte));
  EXPECT_FALSE(have_more_memory(tree.family(), 400 * kMegabyte));
}

TEST(ProcessMemory, WhatIsSharedCountsOnce) {
  const Tree tree(4, 1, 100);
  EXPECT_FALSE(have_more_memory(tree.family(), 250 * kMegabyte));
  EXPECT_TRUE(have_more_memory(tree.family(), 60 * kMegabyte));
}

TEST(ProcessMemory, FilesInMemoryThatAreNotMappedAreCountedOnce) {
  auto [ours, theirs] = socket_pair();
  const pid_t pid = ::fork();
  if (pid == 0) {
    const Fd file(::memfd_create("held", 0));
    const Fd again(::dup(file.value()));
    const std::string part(100 * kMegabyte, 'x');
    for (int i = 0; i < 2; ++i)
      [[maybe_unused]] const auto ignored = ::write(file.value(), part.data(), part.size());
    // Half of it is mapped as well.
    void* mapped =
        ::mmap(nullptr, part.size(), PROT_READ | PROT_WRITE, MAP_SHARED, file.value(), 0);
    std::memset(mapped, 1, part.size());
    [[maybe_unused]] const auto sent = ::write(theirs.value(), "", 1);
    while (true) ::pause();
  }
  char byte = 0;
  EXPECT_EQ(::read(ours.value(), &byte, 1), 1);
  const MemoryFiles files = memory_files_of({pid});
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files.begin()->second, 200 * kMegabyte);
  // 100 MB of its own, and the file.
  EXPECT_FALSE(have_more_memory({pid}, 250 * kMegabyte));
  EXPECT_TRUE(have_more_memory({pid}, 250 * kMegabyte, files));
  EXPECT_FALSE(have_more_memory({pid}, 350 * kMegabyte, files));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

TEST(ProcessMemory, AProcessStaysTheFirstToGo) {
  auto [ours, theirs] = socket_pair();
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::ofstream("/proc/self/oom_score_adj") << "1000" << std::flush;
    std::ofstream("/proc/self/oom_score_adj") << "0" << std::flush;
    [[maybe_unused]] const auto sent = ::write(theirs.value(), "", 1);
    while (true) ::pause();
  }
  char byte = 0;
  EXPECT_EQ(::read(ours.value(), &byte, 1), 1);
  let_go_first({pid});
  int score = 0;
  std::ifstream("/proc/" + std::to_string(pid) + "/oom_score_adj") >> score;
  EXPECT_EQ(score, 1000);
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

TEST(ProcessMemory, FilesInATmpOfItsOwnAreCounted) {
  if (!probe_sandbox().has(SandboxPart::kTemporary))
    GTEST_SKIP() << "this machine gives no own /tmp";
  EXPECT_EQ(own_files_bytes(::getpid()), 0u);
  auto [ours, theirs] = socket_pair();
  SandboxForker forker;
  const pid_t pid = forker.fork();
  if (pid == 0) {
    forker.enter({});
    std::ofstream("/tmp/file") << std::string(20 * kMegabyte, 'x');
    std::ofstream("/var/tmp/file") << std::string(10 * kMegabyte, 'x');
    std::ofstream("/dev/shm/file") << std::string(10 * kMegabyte, 'x');
    [[maybe_unused]] const auto ignored = ::write(theirs.value(), "", 1);
    while (true) ::pause();
  }
  char byte = 0;
  EXPECT_EQ(::read(ours.value(), &byte, 1), 1);
  EXPECT_GE(own_files_bytes(pid), 40 * kMegabyte);
  EXPECT_LT(own_files_bytes(pid), 41 * kMegabyte);
  ::kill(-pid, SIGKILL);
  ::waitpid(-1, nullptr, 0);
}

TEST(ProcessMemory, AFamilyIsWhatARootStarted) {
  // 7 forks for everybody; 10 is a helper, the init of the namespace of 20.
  const std::vector<ProcessFacts> all{{7, 1, 7},    {10, 7, 7},   {20, 10, 20}, {21, 20, 20},
                                      {22, 21, 22}, {23, 10, 23}, {30, 7, 30},  {31, 30, 30},
                                      {32, 1, 30},  {40, 1, 40}};
  EXPECT_THAT(family_of(all, 20, 7), UnorderedElementsAre(10, 20, 21, 22, 23));
  EXPECT_THAT(family_of(all, 30, 7), UnorderedElementsAre(30, 31, 32));
}

TEST(ProcessMemory, ProcessesAreFoundWithTheirParents) {
  std::vector<pid_t> pids;
  for (const auto& process : running_processes()) {
    pids.push_back(process.pid);
    if (process.pid != ::getpid()) continue;
    EXPECT_EQ(process.parent, ::getppid());
  }
  EXPECT_THAT(pids, Contains(::getpid()));
}

}  // namespace
}  // namespace kbench::run
