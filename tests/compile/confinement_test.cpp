// SPDX-License-Identifier: MIT
#include "compile/confinement.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
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
