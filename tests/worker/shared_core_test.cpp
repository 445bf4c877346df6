// SPDX-License-Identifier: MIT
#include "worker/shared_core.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kbench::worker {
namespace {

cpu_set_t cores_of(pid_t pid) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  EXPECT_EQ(sched_getaffinity(pid, sizeof cores, &cores), 0);
  return cores;
}

/// A process that does nothing until it is gone.
class Idle {
 public:
  Idle() : pid_(fork()) {
    while (pid_ == 0) pause();
  }
  ~Idle() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(SharedCore, IsOneForBothAndForAsLongAsItLives) {
  const Idle other;
  const cpu_set_t ours = cores_of(0), theirs = cores_of(other.pid());
  {
    const SharedCore shared(other.pid());
    const cpu_set_t one = cores_of(0), same = cores_of(other.pid());
    EXPECT_EQ(CPU_COUNT(&one), 1);
    EXPECT_TRUE(CPU_EQUAL(&one, &same));
    EXPECT_TRUE(CPU_ISSET(static_cast<std::size_t>(sched_getcpu()), &one));
  }
  const cpu_set_t ours_after = cores_of(0), theirs_after = cores_of(other.pid());
  EXPECT_TRUE(CPU_EQUAL(&ours, &ours_after));
  EXPECT_TRUE(CPU_EQUAL(&theirs, &theirs_after));
}

TEST(SharedCore, WithNobodyIsNone) {
  const cpu_set_t ours = cores_of(0);
  const SharedCore none(0);
  pid_t gone = fork();
  if (gone == 0) _exit(0);
  waitpid(gone, nullptr, 0);
  const SharedCore late(gone);
  const cpu_set_t during = cores_of(0);
  EXPECT_TRUE(CPU_EQUAL(&ours, &during));
}

}  // namespace
}  // namespace kbench::worker
