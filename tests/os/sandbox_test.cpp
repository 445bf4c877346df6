// SPDX-License-Identifier: MIT
// What a sandboxed process may and may not reach, tried from inside.
#include "os/sandbox/sandbox.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "base/test_folder.hpp"
#include "os/sandbox_fixture.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;

TEST_F(Sandbox, ReadsAndWritesFromAList) {
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
                     reading(folder_ / "secret/file") + reading("/") + reading("/etc/passwd") +
                     reading(folder_ / "own/../secret/file") +
                     (::access("/etc/passwd", F_OK) == 0 ? "there " : "gone ");
            }),
            "denied denied denied denied denied denied there ");
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

TEST_F(Sandbox, HasAFolderOfTemporaryFilesOfItsOwn) {
  KBENCH_NEEDS(kTemporary);
  const std::string name = "kbench-sandbox-" + std::to_string(::getpid());
  const test::ScratchFolder others;
  std::ofstream(others.path() / "file") << "secret";
  const auto tried = [&] {
    std::string text;
    for (const fs::path top : {"/tmp", "/var/tmp"}) {
      text += reading(top / name / "kernel.cu");
      fs::create_directory(top / name);
      text += writing(top / name / "kernel.cu");
      text += reading(top / name / "kernel.cu");
    }
    return text + reading(others.path() / "file");
  };
  // The second one sees nothing of the first one's.
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(said(tried), "denied written read denied written read denied ");
  for (const fs::path top : {"/tmp", "/var/tmp"}) EXPECT_FALSE(fs::exists(top / name));
}

TEST_F(Sandbox, ItsTemporaryFilesHaveABound) {
  KBENCH_NEEDS(kTemporary);
  EXPECT_EQ(said([] {
              constexpr long kInMemory = 0x01021994;  // TMPFS_MAGIC
              std::string text;
              for (const char* folder : {"/tmp", "/var/tmp", "/dev/shm"}) {
                struct statfs system {};
                ::statfs(folder, &system);
                text += system.f_type == kInMemory ? "memory " : "disk ";
                text +=
                    std::to_string(system.f_blocks * static_cast<unsigned>(system.f_bsize)) + " ";
              }
              return text;
            }),
            "memory 1073741824 memory 1073741824 memory 1073741824 ");
  EXPECT_EQ(
      said([&]() -> std::string {
        const std::string part(std::size_t{64} << 20, 'x');
        for (int i = 0; i < 64; ++i) {
          const auto file = "/tmp/file" + std::to_string(i);
          const Fd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
          if (::write(fd.value(), part.data(), part.size()) != static_cast<ssize_t>(part.size()))
            return i >= 8 ? "full" : "too soon";
        }
        return "no bound";
      }),
      "full");
}

TEST_F(Sandbox, WhatItMayReachBelowTheMachinesTemporaryFilesStaysThere) {
  KBENCH_NEEDS(kTemporary);
  // The fixture's folder lies there.
  fs::create_directories(folder_ / "readable/deep");
  std::ofstream(folder_ / "readable/deep/file") << "deep";
  EXPECT_EQ(said([&] {
              std::string text = reading(folder_ / "readable/deep/file");
              text += reading(folder_ / "own/file") + writing(folder_ / "own/kept");
              text += writing(folder_ / "readable/deep/new") + writing(folder_ / "readable/file");
              [[maybe_unused]] const std::string ignored = writing(folder_ / "beside");
              std::error_code error;
              fs::rename(folder_ / "readable/file", folder_ / "own/moved", error);
              text += error ? "stays " : "moved ";
              fs::remove_all(folder_ / "readable", error);
              return text + reading(folder_ / "readable/deep/file");
            }),
            "read read written denied denied stays read ");
  EXPECT_TRUE(fs::exists(folder_ / "own/kept"));
  EXPECT_FALSE(fs::exists(folder_ / "beside"));
  EXPECT_TRUE(fs::exists(folder_ / "readable/file"));
}

TEST_F(Sandbox, CanBeNarrowedFromWithin) {
  KBENCH_NEEDS(kFiles);
  const fs::path file = "/etc/ld.so.cache";
  fs::create_directories(folder_ / "own/below");
  EXPECT_EQ(said([&] {
              const Fd open(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
              const std::string_view prefixes[] = {"/etc/ld.so"};
              std::string text = narrow_sandbox(prefixes) ? "narrowed " : "as it was ";
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

TEST_F(Sandbox, OpensNoGpuOnceTheyAreClosed) {
  KBENCH_NEEDS(kFiles);
  EXPECT_TRUE(close_gpus()) << "this process is in no sandbox";
  if (!fs::exists("/dev/nvidiactl")) GTEST_SKIP() << "no GPU on this machine";
  EXPECT_EQ(said([] {
              const std::string before = reading("/dev/nvidiactl");
              const bool closed = close_gpus();
              return (before == "denied " ? "shut " : "there ") +
                     std::string(closed ? "closed " : "open ") + reading("/dev/nvidiactl");
            }),
            "there closed denied ");
}

TEST_F(Sandbox, ClosesGpusToThreadsThatAreOlder) {
  KBENCH_NEEDS(kSystemCalls);
  constexpr unsigned long kUvmInitialize = 0x30000001;
  EXPECT_EQ(said([] {
              std::promise<void> closed;
              std::string text;
              std::thread older([&] {
                closed.get_future().wait();
                const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
                const bool asked = ::ioctl(null.value(), kUvmInitialize, nullptr) == 0;
                text += asked || errno != EPERM ? "asked" : "refused";
              });
              if (!close_gpus()) text += "open ";
              closed.set_value();
              older.join();
              return text;
            }),
            "refused");
}

TEST_F(Sandbox, SeesNothingOfItsParent) {
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

TEST_F(Sandbox, KeepsOutSocketsWithAPath) {
  if (!here(SandboxPart::kSystemCalls)) GTEST_SKIP() << "this machine filters no system calls";
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

TEST_F(Sandbox, KeepsOthersSocketsOut) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "kbench-sandbox-test-" + std::to_string(::getpid());
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
  if (!here(SandboxPart::kScopes) && !here(SandboxPart::kNetNamespace))
    GTEST_SKIP() << "this machine keeps no abstract sockets apart";
  EXPECT_EQ(said(reached), "");
}

TEST_F(Sandbox, LeavesThreadsAndPrograms) {
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

TEST_F(Sandbox, HasSharedMemoryOfItsOwn) {
  KBENCH_NEEDS(kPidNamespace);
  const std::string name = "/dev/shm/kbench-sandbox-test-" + std::to_string(::getpid());
  const std::string others = name + "-others";
  std::ofstream(others) << "secret";
  EXPECT_EQ(said([&] {
              const std::string first = reading(others) + writing(name);
              return first + reading(name);
            }),
            "denied written read ");
  EXPECT_FALSE(fs::exists(name));
  EXPECT_TRUE(fs::remove(others));
}

}  // namespace
}  // namespace kbench
