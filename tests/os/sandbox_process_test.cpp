// SPDX-License-Identifier: MIT
// How a sandboxed process is started, stopped and ended, what bounds it, and where a machine gives
// less.
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "os/sandbox/sandbox.hpp"
#include "os/sandbox/steps.hpp"
#include "os/sandbox_fixture.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;

TEST_F(Sandbox, PartsHaveARowEach) {
  ASSERT_EQ(sandbox_parts().size(), 10u);
  for (std::size_t i = 0; i < sandbox_parts().size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(sandbox_parts()[i].part), i);
    EXPECT_FALSE(sandbox_parts()[i].name.empty());
  }
}

TEST_F(Sandbox, WhatItSaysIsWhatTheProbeSays) {
  const std::uint32_t probed = probe_sandbox().bits();
  EXPECT_EQ(said([&] { return std::to_string(parts_.bits()); }), std::to_string(probed));
  EXPECT_TRUE(SandboxParts::from_bits(probed).has(SandboxPart::kSession));
}

TEST_F(Sandbox, TellsHowItsProcessEnded) {
  EXPECT_EQ(wait(start([] { return 0; })), 0);
  EXPECT_EQ(wait(start([] { return 77; })), 77);
  EXPECT_EQ(wait(start([]() -> int { ::abort(); })), -SIGABRT);
  EXPECT_EQ(wait(start([] { return ::raise(SIGSEGV); })), -SIGSEGV);
  EXPECT_EQ(wait(start([] { return ::kill(::getpid(), SIGKILL); })), -SIGKILL);
  const pid_t pid = start([] { return ::pause(); });
  ::kill(-pid, SIGKILL);
  EXPECT_EQ(wait(pid), -SIGKILL);
}

TEST_F(Sandbox, ItsGroupCanBeStoppedAndGoesOn) {
  auto [ours, theirs] = socket_pair();
  const int fd = theirs.value();
  const int other = ours.value();
  const pid_t pid = start([&] {
    char byte = 0;
    ::close(other);
    while (::read(fd, &byte, 1) == 1) ::send(fd, "y", 1, MSG_NOSIGNAL);
    return 3;
  });
  theirs.reset();
  const auto answers = [&] {
    if (::write(other, "x", 1) != 1) return false;
    pollfd poll{other, POLLIN, 0};
    char byte = 0;
    return ::poll(&poll, 1, 200) == 1 && ::read(other, &byte, 1) == 1;
  };
  EXPECT_TRUE(answers());
  ::kill(-pid, SIGSTOP);
  EXPECT_FALSE(answers());
  ::kill(-pid, SIGCONT);
  EXPECT_TRUE(answers());
  ours.reset();
  EXPECT_EQ(wait(pid), 3);
}

TEST_F(Sandbox, WhatItHasStartedDiesWithIt) {
  KBENCH_NEEDS(kPidNamespace);
  auto [ours, theirs] = socket_pair();
  const pid_t pid = start([] {
    if (::fork() == 0) {
      ::setsid();
      if (::fork() == 0) ::sleep(100);
      ::_exit(0);
    }
    ::wait(nullptr);
    return 5;
  });
  theirs.reset();
  EXPECT_EQ(wait(pid), 5);
  // The one that is left held the other end.
  pollfd poll{ours.value(), POLLIN, 0};
  EXPECT_EQ(::poll(&poll, 1, 0), 1);
}

TEST_F(Sandbox, LimitsFilesAndProcesses) {
  EXPECT_EQ(wait(start([&] {
              const int fd = ::open((folder_ / "own/large").c_str(), O_WRONLY | O_CREAT, 0600);
              return ::ftruncate(fd, off_t{2} << 30);
            })),
            -SIGXFSZ);
  rlim_t gpus = 0;
  for (int i = 0; i < 100; ++i) gpus += fs::exists("/dev/nvidia" + std::to_string(i)) ? 1 : 0;
  rlimit ours{};
  ::getrlimit(RLIMIT_NOFILE, &ours);
  const rlim_t most = std::min(320 + 32 * std::min<rlim_t>(gpus, 8), ours.rlim_max);
  EXPECT_EQ(said([&] {
              std::string text;
              std::ifstream("/proc/self/oom_score_adj") >> text;
              for (const auto resource : {RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_NOFILE}) {
                rlimit limit{};
                ::getrlimit(resource, &limit);
                text += " " + std::to_string(limit.rlim_max);
              }
              rlim_t opened = 0;
              while (opened < 10000 && ::dup(0) >= 0) ++opened;
              return text + (opened < most ? " few" : " many");
            }),
            "1000 0 1073741824 " + std::to_string(most) + " few");
}

/// Those count for the user: as long as there are more of them than another process may have open,
/// that one can pass none.
TEST_F(Sandbox, FewDescriptorsOfItAreInFlight) {
  EXPECT_EQ(said([]() -> std::string {
              int ends[2];
              if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0)
                return "no pair";
              constexpr std::size_t kEach = 200;
              constexpr std::size_t kUsers = 1024;
              const std::vector<int> fds(kEach, STDIN_FILENO);
              std::vector<char> control(CMSG_SPACE(sizeof(int) * kEach));
              char byte = 0;
              iovec part{&byte, 1};
              msghdr message{};
              message.msg_iov = &part;
              message.msg_iovlen = 1;
              message.msg_control = control.data();
              message.msg_controllen = control.size();
              cmsghdr* const header = CMSG_FIRSTHDR(&message);
              header->cmsg_level = SOL_SOCKET;
              header->cmsg_type = SCM_RIGHTS;
              header->cmsg_len = CMSG_LEN(sizeof(int) * kEach);
              std::memcpy(CMSG_DATA(header), fds.data(), sizeof(int) * kEach);
              std::size_t sent = 0;
              while (sent < 2 * kUsers && ::sendmsg(ends[0], &message, 0) == 1) sent += kEach;
              return sent >= kEach && sent < kUsers ? "few" : std::to_string(sent);
            }),
            "few");
}

TEST_F(Sandbox, AForkBombStopsGrowing) {
  KBENCH_NEEDS(kProcessLimit);
  const unsigned most = 1024 + 8 * std::thread::hardware_concurrency();
  EXPECT_EQ(said([&]() -> std::string {
              for (unsigned i = 0; i <= most; ++i) {
                const pid_t pid = ::fork();
                if (pid == 0) ::pause();
                if (pid < 0) return i > 500 ? "bounded" : "too few";
              }
              return "no bound";
            }),
            "bounded");
}

TEST_F(Sandbox, HasNoPrivilegesAndGetsNone) {
  EXPECT_EQ(said([]() -> std::string {
              std::ifstream status("/proc/self/status");
              std::string text;
              for (std::string line; std::getline(status, line);)
                if (line.starts_with("CapEff") || line.starts_with("CapPrm") ||
                    line.starts_with("NoNewPrivs"))
                  text += line.substr(line.find_first_not_of("\t ", line.find(':') + 1)) + " ";
              return text;
            }),
            "0000000000000000 0000000000000000 1 ");
}

TEST_F(Sandbox, WhereTheNamespacesAreAllTakenThereIsNoThinnerOne) {
  KBENCH_NEEDS(kPidNamespace);
  auto [ours, theirs] = socket_pair();
  const int out = theirs.value();
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    // A namespace of its own, whose limits are nobody else's.
    if (::unshare(CLONE_NEWUSER) != 0 || !map_itself(user, group)) ::_exit(3);
    SandboxForker forker;
    const pid_t first = forker.fork();
    if (first == 0) ::_exit(0);
    std::ofstream("/proc/sys/user/max_user_namespaces") << "0" << std::flush;
    const pid_t second = forker.fork();
    const int why = errno;
    if (second == 0) ::_exit(0);
    const std::string text = std::string(first > 0 ? "first " : "") +
                             (second < 0 && why == EAGAIN ? "no second" : "second");
    ::_exit(::write(out, text.data(), text.size()) > 0 ? 0 : 1);
  }
  theirs.reset();
  const std::string text = read_to_end(ours.value());
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (outcome_of(status) == 3) GTEST_SKIP() << "this machine gives no user namespace";
  EXPECT_EQ(text, "first no second");
}

TEST_F(Sandbox, WithoutNamespacesTheRestHolds) {
  auto [ours, theirs] = socket_pair();
  const int out = theirs.value();
  const pid_t parent = ::getpid();
  const pid_t pid = forker_.fork_plainly();
  if (pid == 0) {
    const SandboxParts parts = forker_.enter(setup());
    std::string text = (parts.has(SandboxPart::kPidNamespace) ? "namespace " : "") +
                       reading("/etc/passwd") + (::kill(parent, 0) == 0 ? "kill " : "");
    for (const fs::path folder : {"/tmp", "/var/tmp"})
      text += reading(folder) + writing(folder / "kbench-of-nobody");
    text += writing(folder_ / "own/new");
    ::_exit(::write(out, text.data(), text.size()) > 0 ? 0 : 1);
  }
  theirs.reset();
  const std::string text = read_to_end(ours.value());
  EXPECT_EQ(wait(pid), 0);
  KBENCH_NEEDS(kFiles);
  EXPECT_EQ(text, "denied denied denied denied denied written ");
}

}  // namespace
}  // namespace kbench
