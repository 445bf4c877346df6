// SPDX-License-Identifier: MIT
// What a caged process may and may not do, tried from inside.
#include "kbench/cage.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/cage_steps.hpp"
#include "core/forked.hpp"
#include "core/scratch_folder.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;

/// How a caged process ended: by a signal (negative), or with a code.
int outcome_of(int status) { return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status); }

class Cage : public testing::Test {
 protected:
  Cage() {
    for (const char* name : {"own", "readable", "secret"}) {
      fs::create_directories(folder_ / name);
      std::ofstream(folder_ / name / "file") << name;
    }
  }
  ~Cage() override { fs::remove_all(folder_); }

  CageSetup setup() const { return {folder_ / "own", {folder_ / "readable"}}; }

  /// Forks a process that is caged and then runs `body`; returns its number.
  pid_t start(const std::function<int()>& body) {
    const pid_t pid = forker_.fork();
    if (pid != 0) return pid;
    parts_ = forker_.enter(setup());
    ::_exit(body());
  }

  int wait(pid_t pid) {
    int status = 0;
    const pid_t reaped = ::waitpid(-1, &status, 0);
    const auto ended = forker_.reaped(reaped, status);
    EXPECT_EQ(ended.pid, pid);
    return outcome_of(ended.status);
  }

  /// What a caged process says, and nothing where it ended otherwise than by itself.
  std::string said(const std::function<std::string()>& body) {
    auto [ours, theirs] = socket_pair();
    const int out = theirs.value();
    const pid_t pid = start([&] {
      const std::string text = body();
      return ::write(out, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1;
    });
    theirs.reset();
    std::string text = read_to_end(ours.value());
    EXPECT_EQ(wait(pid), 0);
    return text;
  }

  static bool here(CagePart part) {
    static const CageParts kParts = probe_cage();
    return kParts.has(part);
  }

  fs::path folder_ = [] {
    std::string pattern = (fs::temp_directory_path() / "kbench-cage-XXXXXX").string();
    return fs::path(::mkdtemp(pattern.data()));
  }();
  CageForker forker_;
  CageParts parts_;
};

#define KBENCH_NEEDS(part) \
  if (!here(CagePart::part)) GTEST_SKIP() << "this machine gives no " #part

std::string reading(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char byte = 0;
  const bool read = fd >= 0 && (::read(fd, &byte, 1) >= 0 || errno == EISDIR);
  return read ? "read " : errno == EACCES ? "denied " : "error ";
}

std::string writing(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const bool written = fd >= 0 && ::write(fd, "x", 1) == 1;
  return written ? "written " : errno == EACCES ? "denied " : "error ";
}

TEST_F(Cage, PartsHaveARowEach) {
  ASSERT_EQ(cage_parts().size(), 9u);
  for (std::size_t i = 0; i < cage_parts().size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(cage_parts()[i].part), i);
    EXPECT_FALSE(cage_parts()[i].name.empty());
  }
}

TEST_F(Cage, WhatItSaysIsWhatTheProbeSays) {
  const std::uint32_t probed = probe_cage().bits();
  EXPECT_EQ(said([&] { return std::to_string(parts_.bits()); }), std::to_string(probed));
  EXPECT_TRUE(CageParts::from_bits(probed).has(CagePart::kSession));
}

TEST_F(Cage, ReadsAndWritesFromAList) {
  KBENCH_NEEDS(kFiles);
  EXPECT_EQ(said([&] {
              return writing(folder_ / "own/new") + reading(folder_ / "own/file") +
                     reading(folder_ / "readable/file") + reading("/usr/bin/env") +
                     reading("/proc/self/status") + reading("/proc/cpuinfo") +
                     writing("/dev/null") + reading("/dev/urandom");
            }),
            "written read read read read read written read ");
  EXPECT_EQ(said([&] {
              return writing(folder_ / "readable/new") + writing(folder_ / "readable/file") +
                     reading(folder_ / "secret/file") + reading(folder_) + reading("/") +
                     reading("/etc/passwd") + writing("/tmp/kbench-cage-test") +
                     reading(folder_ / "own/../secret/file");
            }),
            "denied denied denied denied denied denied denied denied ");
  EXPECT_EQ(said([&]() -> std::string {
              [[maybe_unused]] int ignored =
                  ::symlink((folder_ / "secret/file").c_str(), (folder_ / "own/link").c_str());
              ignored = ::truncate((folder_ / "readable/file").c_str(), 0);
              return reading(folder_ / "own/link") +
                     (::link((folder_ / "secret/file").c_str(), (folder_ / "own/hard").c_str()) != 0
                          ? "denied "
                          : "linked ");
            }),
            "denied denied ");
  EXPECT_GT(fs::file_size(folder_ / "readable/file"), 0u);
}

TEST_F(Cage, CanBeNarrowedFromWithin) {
  KBENCH_NEEDS(kFiles);
  const fs::path file = folder_ / "readable/file";
  fs::create_directories(folder_ / "own/below");
  EXPECT_EQ(said([&] {
              const Fd open(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
              const std::string readable = folder_ / "readable";
              const std::string_view prefixes[] = {readable};
              std::string text = narrow_cage(prefixes) ? "narrowed " : "as it was ";
              text += reading(file);
              std::thread([&] { text += reading(file); }).join();
              text += ::system(("cat " + file.string() + " 2>/dev/null").c_str()) == 0 ? "read "
                                                                                       : "denied ";
              char byte = 0;
              text += ::read(open.value(), &byte, 1) == 1 ? "open " : "shut ";
              text += writing(folder_ / "own/new") + reading(folder_ / "own/file");
              std::error_code error;
              fs::rename(folder_ / "own/new", folder_ / "own/below/new", error);
              text += error ? "stays " : "moved ";
              return text + reading("/usr/bin/env");
            }),
            "narrowed denied denied denied open written read moved read ");
}

TEST_F(Cage, OpensNoGpuOnceTheyAreClosed) {
  KBENCH_NEEDS(kFiles);
  EXPECT_FALSE(close_gpus()) << "this process is in no cage";
  if (!fs::exists("/dev/nvidiactl")) GTEST_SKIP() << "no GPU on this machine";
  EXPECT_EQ(said([] {
              const std::string before = reading("/dev/nvidiactl");
              const bool closed = close_gpus();
              return (before == "denied " ? "shut " : "there ") +
                     std::string(closed ? "closed " : "open ") + reading("/dev/nvidiactl");
            }),
            "there closed denied ");
}

TEST_F(Cage, SeesNothingOfItsParent) {
  KBENCH_NEEDS(kFiles);
  const pid_t outside = ::getpid();
  EXPECT_EQ(said([&]() -> std::string {
              std::string open;
              for (const pid_t pid : {outside, ::getppid()}) {
                for (const char* name : {"environ", "mem", "maps", "cwd/own", "root/etc", "fd/0"}) {
                  const auto path = "/proc/" + std::to_string(pid) + "/" + name;
                  if (::open(path.c_str(), O_RDONLY) >= 0) open += path + " ";
                }
                if (::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0) open += "ptrace ";
                if (pid > 1 && ::kill(pid, 0) == 0) open += "kill ";
              }
              return open;
            }),
            "");
}

TEST_F(Cage, KeepsOutSocketsWithAPath) {
  if (!here(CagePart::kSystemCalls)) GTEST_SKIP() << "this machine filters no system calls";
  // One that Landlock would let a candidate see: it is no file to it.
  const test::ScratchFolder folder;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = (folder.path() / "socket").string();
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const auto* plain = reinterpret_cast<const sockaddr*>(&address);
  const Fd server(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(::bind(server.value(), plain, sizeof address), 0);
  ASSERT_EQ(::listen(server.value(), 1), 0);
  const auto reached = [&]() -> std::string {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    return ::connect(fd, plain, sizeof address) == 0 ? "answers" : "";
  };
  EXPECT_EQ(said_by_child(reached), "answers");
  EXPECT_EQ(said(reached), "");
}

TEST_F(Cage, KeepsOthersSocketsOut) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "kbench-cage-test-" + std::to_string(::getpid());
  name.copy(address.sun_path + 1, sizeof address.sun_path - 2);
  const auto* plain = reinterpret_cast<const sockaddr*>(&address);
  const Fd server(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(::bind(server.value(), plain, sizeof address), 0);
  ASSERT_EQ(::listen(server.value(), 1), 0);
  const auto reached = [&]() -> std::string {
    std::string open;
    const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0) open += "no unix sockets ";
    if (::connect(fd, plain, sizeof address) == 0) open += "abstract ";
    if (::socket(AF_INET, SOCK_STREAM, 0) >= 0) open += "inet ";
    return open;
  };
  EXPECT_EQ(said_by_child(reached), "abstract inet ");
  if (!here(CagePart::kScopes) && !here(CagePart::kNetNamespace))
    GTEST_SKIP() << "this machine keeps no abstract sockets apart";
  EXPECT_EQ(said(reached), "");
}

TEST_F(Cage, LeavesThreadsAndPrograms) {
  EXPECT_EQ(
      said([&]() -> std::string {
        bool ran = false;
        std::thread([&] { ran = true; }).join();
        const bool there = ::chdir((folder_ / "own").c_str()) == 0;
        const int status = ::system(
            "export TMPDIR=. && echo 'int main() { return 0; }' > a.c && cc a.c -o a && ./a && "
            "python3 -c 'import threading as t; t.Lock()'");
        return ran && there && status == 0 ? "all" : "not all";
      }),
      "all");
}

TEST_F(Cage, HasSharedMemoryOfItsOwn) {
  KBENCH_NEEDS(kPidNamespace);
  const std::string name = "/dev/shm/kbench-cage-test-" + std::to_string(::getpid());
  EXPECT_EQ(said([&] {
              const std::string first = writing(name);
              return first + reading(name);
            }),
            "written read ");
  EXPECT_FALSE(fs::exists(name));
}

TEST_F(Cage, TellsHowItsProcessEnded) {
  EXPECT_EQ(wait(start([] { return 0; })), 0);
  EXPECT_EQ(wait(start([] { return 77; })), 77);
  EXPECT_EQ(wait(start([]() -> int { ::abort(); })), -SIGABRT);
  EXPECT_EQ(wait(start([] { return ::raise(SIGSEGV); })), -SIGSEGV);
  EXPECT_EQ(wait(start([] { return ::kill(::getpid(), SIGKILL); })), -SIGKILL);
  const pid_t pid = start([] { return ::pause(); });
  ::kill(-pid, SIGKILL);
  EXPECT_EQ(wait(pid), -SIGKILL);
}

TEST_F(Cage, ItsGroupCanBeStoppedAndGoesOn) {
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

TEST_F(Cage, WhatItHasStartedDiesWithIt) {
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

TEST_F(Cage, LimitsFilesAndProcesses) {
  EXPECT_EQ(wait(start([&] {
              const int fd = ::open((folder_ / "own/large").c_str(), O_WRONLY | O_CREAT, 0600);
              return ::ftruncate(fd, off_t{2} << 30);
            })),
            -SIGXFSZ);
  EXPECT_EQ(said([] {
              rlimit core{};
              ::getrlimit(RLIMIT_CORE, &core);
              int opened = 0;
              while (opened < 10000 && ::dup(0) >= 0) ++opened;
              return std::to_string(core.rlim_max) + (opened < 5000 ? " few" : " many");
            }),
            "0 few");
}

TEST_F(Cage, AForkBombStopsGrowing) {
  KBENCH_NEEDS(kProcessLimit);
  EXPECT_EQ(said([]() -> std::string {
              for (int i = 0; i < 1024 + 8 * 1024; ++i) {
                const pid_t pid = ::fork();
                if (pid == 0) ::pause();
                if (pid < 0) return i > 500 ? "bounded" : "too few";
              }
              return "no bound";
            }),
            "bounded");
}

TEST_F(Cage, HasNoPrivilegesAndGetsNone) {
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

TEST_F(Cage, WhereTheNamespacesAreAllTakenThereIsNoThinnerOne) {
  KBENCH_NEEDS(kPidNamespace);
  auto [ours, theirs] = socket_pair();
  const int out = theirs.value();
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    // A namespace of its own, whose limits are nobody else's.
    if (::unshare(CLONE_NEWUSER) != 0 || !map_itself(user, group)) ::_exit(3);
    CageForker forker;
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

TEST_F(Cage, WithoutNamespacesTheRestHolds) {
  auto [ours, theirs] = socket_pair();
  const int out = theirs.value();
  const pid_t parent = ::getpid();
  const pid_t pid = forker_.fork_plainly();
  if (pid == 0) {
    const CageParts parts = forker_.enter(setup());
    const std::string text = (parts.has(CagePart::kPidNamespace) ? "namespace " : "") +
                             reading("/etc/passwd") + (::kill(parent, 0) == 0 ? "kill " : "");
    ::_exit(::write(out, text.data(), text.size()) > 0 ? 0 : 1);
  }
  theirs.reset();
  const std::string text = read_to_end(ours.value());
  EXPECT_EQ(wait(pid), 0);
  KBENCH_NEEDS(kFiles);
  EXPECT_EQ(text, "denied ");
}

}  // namespace
}  // namespace kbench
