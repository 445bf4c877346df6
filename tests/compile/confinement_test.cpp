// SPDX-License-Identifier: MIT
#include "compile/guard/confinement.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "compile/compile_fixture.hpp"

namespace kbench {
namespace {

/// The exit code of `body`, run in a process of its own that is confined to `folder`.
int confined(const std::filesystem::path& folder, int (*body)(const std::string& folder)) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    confine_reads({folder});
    ::_exit(body(folder.string()));
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

class Confinement : public testing::Test {
 protected:
  Confinement() {
    std::ofstream(folder_.path() / "inside.h") << "x";
    std::filesystem::create_directories(folder_.path() / "sub");
    std::filesystem::create_directories(folder_.path().string() + "_beside");
    std::ofstream(folder_.path().string() + "_beside/outside.h") << "x";
  }
  ~Confinement() override { std::filesystem::remove_all(folder_.path().string() + "_beside"); }
  TemporaryFolder folder_;
};

TEST_F(Confinement, OpensOnlyWhatLiesBelow) {
  EXPECT_EQ(confined(folder_.path(),
                     [](const std::string& folder) {
                       if (::open((folder + "/inside.h").c_str(), O_RDONLY) < 0) return 1;
                       if (std::fopen((folder + "/./sub/../inside.h").c_str(), "r") == nullptr) {
                         return 2;
                       }
                       if (refused_file()) return 3;
                       if (::open((folder + "_beside/outside.h").c_str(), O_RDONLY) >= 0) return 4;
                       if (errno != ENOENT) return 5;
                       if (refused_file() != folder + "_beside/outside.h") return 6;
                       if (std::fopen("/etc/passwd", "r") != nullptr) return 7;
                       if (::open((folder + "/../../etc/passwd").c_str(), O_RDONLY) >= 0) return 8;
                       return 0;
                     }),
            0);
}

TEST_F(Confinement, WhatDoesNotExistIsNotHeldAgainstAnybody) {
  EXPECT_EQ(confined(folder_.path(),
                     [](const std::string&) {
                       if (::open("/no/such/file", O_RDONLY) >= 0) return 1;
                       if (std::fopen("/etc", "r") != nullptr) return 2;
                       return refused_file() ? 3 : 0;
                     }),
            0);
}

TEST_F(Confinement, LoadsNoFurtherLibraries) {
  EXPECT_EQ(confined(folder_.path(),
                     [](const std::string&) {
                       if (::dlopen("libc.so.6", RTLD_NOW) == nullptr) return 1;
                       return ::dlopen("libutil.so.1", RTLD_NOW) == nullptr &&
                                      ::dlopen("libcuda.so.1", RTLD_NOW) == nullptr
                                  ? 0
                                  : 2;
                     }),
            0);
}

TEST_F(Confinement, LandlockHoldsAgainstTheSystemCallItself) {
  if (::syscall(444, nullptr, 0, 1) < 1) GTEST_SKIP() << "this kernel has no Landlock";
  EXPECT_EQ(confined(folder_.path(),
                     [](const std::string& folder) {
                       const auto direct = [](const std::string& path, int flags) {
                         return ::syscall(SYS_openat, AT_FDCWD, path.c_str(), flags, 0600);
                       };
                       if (direct(folder + "/inside.h", O_RDONLY) < 0) return 1;
                       if (direct("/etc/passwd", O_RDONLY) >= 0 || errno != EACCES) return 2;
                       if (direct(folder + "/new.h", O_WRONLY | O_CREAT) >= 0) return 3;
                       if (direct(folder + "/inside.h", O_WRONLY) >= 0) return 4;
                       ::execl("/bin/true", "true", nullptr);
                       return errno == EACCES ? 0 : 5;
                     }),
            0);
}

TEST_F(Confinement, AProgramWritesToItsFolderAlone) {
  if (::syscall(444, nullptr, 0, 1) < 1) GTEST_SKIP() << "this kernel has no Landlock";
  const pid_t pid = ::fork();
  if (pid == 0) {
    const auto opens = [&](const std::string& name, int flags) {
      return ::open((folder_.path().string() + name).c_str(), flags, 0600) >= 0;
    };
    confine_program({folder_.path()}, {folder_.path() / "sub"});
    if (!opens("/sub/new.o", O_WRONLY | O_CREAT) || !opens("/inside.h", O_RDONLY)) ::_exit(1);
    if (opens("/new.o", O_WRONLY | O_CREAT) || opens("/inside.h", O_WRONLY)) ::_exit(2);
    if (opens("_beside/outside.h", O_RDONLY)) ::_exit(3);
    if (opens("_beside/new.o", O_WRONLY | O_CREAT)) ::_exit(4);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Confinement, NothingOutsideIsSentASignal) {
  const auto body = [](const std::string&) {
    ::signal(SIGTERM, SIG_IGN);
    if (::kill(::getpid(), SIGTERM) != 0) return 1;
    return ::kill(::getppid(), 0) != 0 && errno == EPERM ? 0 : 2;
  };
  EXPECT_EQ(confined(folder_.path(), body), 0);
}

TEST_F(Confinement, NoSocketsButUnixOnesAndNoPrivileges) {
  EXPECT_EQ(confined(folder_.path(),
                     [](const std::string&) {
                       if (::socket(AF_INET, SOCK_STREAM, 0) >= 0) return 1;
                       if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return 2;
                       return ::prctl(PR_CAPBSET_DROP, CAP_CHOWN, 0, 0, 0) != 0 ? 0 : 3;
                     }),
            0);
}

/// How `body` ends, run where continue_in_namespaces() returns; its standard output in `said`.
struct Namespaced {
  int status = 0;
  std::string said;
};

enum class Outside { kWaits, kIsKilledAtAWord };

/// One that is in no pid namespace of its own ends with 77.
Namespaced namespaced(int (*body)(), Outside outside = Outside::kWaits) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[0]);
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[1]);
    ::_exit(continue_in_namespaces().pid ? body() : 77);
  }
  ::close(ends[1]);
  Namespaced result;
  char byte = 0;
  while (::read(ends[0], &byte, 1) == 1) {
    result.said += byte;
    if (outside == Outside::kIsKilledAtAWord) ::kill(pid, SIGKILL);
  }
  ::close(ends[0]);
  ::waitpid(pid, &result.status, 0);
  return result;
}

int say(char byte) { return ::write(STDOUT_FILENO, &byte, 1) == 1 ? 0 : 1; }

class OwnPids : public testing::Test {
 protected:
  void SetUp() override {
    if (WEXITSTATUS(namespaced([] { return 0; }).status) == 77)
      GTEST_SKIP() << "this kernel gives no pid namespaces to this user";
  }
};

TEST_F(OwnPids, TheCompilerIsTheSecondAndSeesNobodyOutside) {
  const Namespaced result = namespaced([] {
    if (::getpid() != 2 || ::getppid() != 1) return 1;
    // Its init cannot be killed from inside, and nobody else has a number.
    ::kill(1, SIGKILL);
    for (pid_t pid = 3; pid < 1000; ++pid)
      if (::kill(pid, 0) == 0) return 2;
    return 0;
  });
  EXPECT_TRUE(WIFEXITED(result.status));
  EXPECT_EQ(WEXITSTATUS(result.status), 0);
}

TEST_F(OwnPids, ExitCodesAndSignalsComeThrough) {
  EXPECT_EQ(WEXITSTATUS(namespaced([] { return 70; }).status), 70);
  for (const int number : {SIGKILL, SIGABRT, SIGSEGV, SIGXFSZ}) {
    static int sent;
    sent = number;
    const int status = namespaced([] {
                         const rlimit none{0, 0};
                         ::setrlimit(RLIMIT_CORE, &none);
                         ::raise(sent);
                         return 0;
                       }).status;
    EXPECT_TRUE(WIFSIGNALED(status)) << number;
    EXPECT_EQ(WTERMSIG(status), number);
  }
}

TEST_F(OwnPids, WhatIsLeftInsideEndsWithIt) {
  // The pipe closes once the grandchild has gone, and it would not go by itself.
  const Namespaced result = namespaced([] {
    if (::fork() == 0)
      for (;;) ::pause();
    return say('a');
  });
  EXPECT_EQ(result.said, "a");
  EXPECT_EQ(result.status, 0);
}

TEST_F(OwnPids, WhoIsKilledOutsideTakesAllInsideAlong) {
  const Namespaced result = namespaced(
      [] {
        ::fork();
        say('a');
        for (;;) ::pause();
        return 0;
      },
      Outside::kIsKilledAtAWord);
  EXPECT_TRUE(WIFSIGNALED(result.status));
  EXPECT_EQ(WTERMSIG(result.status), SIGKILL);
}

TEST_F(Confinement, MemoryWatchSpeaksUp) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    watch_memory(std::size_t{200} << 20, [] { ::_exit(42); });
    std::vector<std::string> held;
    for (int i = 0; i < 100; ++i) {
      held.emplace_back(std::size_t{10} << 20, 'x');
      ::usleep(5000);
    }
    ::_exit(1);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 42);
}

}  // namespace
}  // namespace kbench
