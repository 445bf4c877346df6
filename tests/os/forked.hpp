// SPDX-License-Identifier: MIT
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "os/subprocess.hpp"

namespace kbench {

/// All that comes from a descriptor until its other ends are closed.
inline std::string read_to_end(int fd) {
  std::string text;
  char part[4096];
  for (ssize_t count = 0; (count = ::read(fd, part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(count));
  return text;
}

/// What `body` gives in a process of its own.
inline std::string said_by_child(const std::function<std::string()>& body) {
  auto [ours, theirs] = socket_pair();
  const pid_t pid = ::fork();
  if (pid == 0) {
    const std::string said = body();
    [[maybe_unused]] const ssize_t sent = ::write(theirs.value(), said.data(), said.size());
    ::_exit(0);
  }
  theirs.reset();
  std::string said = read_to_end(ours.value());
  ::waitpid(pid, nullptr, 0);
  return said;
}

}  // namespace kbench
