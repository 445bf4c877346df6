// SPDX-License-Identifier: MIT
#include "run/process/memory_group.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "os/subprocess.hpp"

namespace kbench::run {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

/// Fills files in memory that no process maps, and of which no process has a descriptor.
void fill_files_in_flight(std::size_t megabytes) {
  auto [one, other] = socket_pair();
  const std::string megabyte(kMegabyte, 'x');
  for (std::size_t i = 0; i < megabytes; i += 50) {
    const Fd file(::memfd_create("unmapped", 0));
    for (int k = 0; k < 50; ++k)
      [[maybe_unused]] const auto ignored = ::write(file.value(), megabyte.data(), megabyte.size());
    char byte = 0;
    iovec part{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    *reinterpret_cast<int*>(CMSG_DATA(header)) = file.value();
    [[maybe_unused]] const auto sent = ::sendmsg(one.value(), &message, 0);
  }
}

/// How a process ends that fills so much in a group of 200 MB.
int status_of(std::size_t megabytes, bool& is_over) {
  const auto group = MemoryGroup::make(200 * kMegabyte);
  auto [ours, theirs] = socket_pair();
  const pid_t pid = ::fork();
  if (pid == 0) {
    char byte = 0;
    [[maybe_unused]] const auto ignored = ::read(theirs.value(), &byte, 1);
    fill_files_in_flight(megabytes);
    ::_exit(0);
  }
  EXPECT_TRUE(group->add({pid}));
  EXPECT_EQ(::write(ours.value(), "", 1), 1);
  int status = 0;
  ::waitpid(pid, &status, 0);
  is_over = group->is_over();
  return status;
}

TEST(MemoryGroup, CountsWhatNoProcessHasMapped) {
  if (!MemoryGroup::make(kMegabyte)) GTEST_SKIP() << "this user may make no memory cgroup";
  bool is_over = false;
  const int status = status_of(400, is_over);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  EXPECT_TRUE(is_over);
  EXPECT_EQ(status_of(50, is_over), 0);
  EXPECT_FALSE(is_over);
}

TEST(MemoryGroup, NoneIsLeft) {
  auto group = MemoryGroup::make(100 * kMegabyte);
  if (!group) GTEST_SKIP() << "this user may make no memory cgroup";
  const auto folder = group->folder();
  EXPECT_TRUE(std::filesystem::exists(folder));
  const pid_t pid = ::fork();
  if (pid == 0) {
    while (true) ::pause();
  }
  EXPECT_TRUE(group->add({pid}));
  group.reset();
  EXPECT_TRUE(std::filesystem::exists(folder));
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  group = MemoryGroup::make(100 * kMegabyte);
  EXPECT_FALSE(std::filesystem::exists(folder));
}

}  // namespace
}  // namespace kbench::run
