// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "os/forked.hpp"
#include "os/sandbox/sandbox.hpp"

namespace kbench {

/// How a sandboxed process ended: by a signal (negative), or with a code.
inline int outcome_of(int status) {
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

class Sandbox : public testing::Test {
 protected:
  Sandbox() {
    for (const char* name : {"own", "readable", "secret"}) {
      std::filesystem::create_directories(folder_ / name);
      std::ofstream(folder_ / name / "file") << name;
    }
  }
  ~Sandbox() override { std::filesystem::remove_all(folder_); }

  SandboxSetup setup() const { return {folder_ / "own", {folder_ / "readable"}}; }

  /// Forks a process that is sandboxed and then runs `body`; returns its number.
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

  /// What a sandboxed process says, and nothing where it ended otherwise than by itself.
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

  static bool here(SandboxPart part) {
    static const SandboxParts kParts = probe_sandbox();
    return kParts.has(part);
  }

  std::filesystem::path folder_ = [] {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "kbench-sandbox-XXXXXX").string();
    return std::filesystem::path(::mkdtemp(pattern.data()));
  }();
  SandboxForker forker_;
  SandboxParts parts_;
};

/// Whether the sandbox is why: it refuses, or shows nothing of the machine's /tmp, or a folder
/// there that can be read alone.
inline bool is_held_back(int error) { return error == EACCES || error == ENOENT || error == EROFS; }

/// What comes of opening it so, in a word.
inline std::string reading(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char byte = 0;
  const bool read = fd >= 0 && (::read(fd, &byte, 1) >= 0 || errno == EISDIR);
  return read ? "read " : is_held_back(errno) ? "denied " : "error ";
}

inline std::string writing(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const bool written = fd >= 0 && ::write(fd, "x", 1) == 1;
  return written ? "written " : is_held_back(errno) ? "denied " : "error ";
}

#define KBENCH_NEEDS(part) \
  if (!here(SandboxPart::part)) GTEST_SKIP() << "this machine gives no " #part

}  // namespace kbench
