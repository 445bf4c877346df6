// SPDX-License-Identifier: MIT
#include "run/process_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "kbench/cage.hpp"
#include "kbench/subprocess.hpp"

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

TEST(ProcessMemory, FilesInATmpOfItsOwnAreCounted) {
  if (!probe_cage().has(CagePart::kTemporary)) GTEST_SKIP() << "this machine gives no own /tmp";
  EXPECT_EQ(own_files_bytes(::getpid()), 0u);
  auto [ours, theirs] = socket_pair();
  CageForker forker;
  const pid_t pid = forker.fork();
  if (pid == 0) {
    forker.enter({});
    std::ofstream("/tmp/file") << std::string(40 * kMegabyte, 'x');
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
