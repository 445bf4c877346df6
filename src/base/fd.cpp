// SPDX-License-Identifier: MIT
#include "base/fd.hpp"

#include <poll.h>
#include <unistd.h>

namespace kbench {

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Fd::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

bool is_readable(int fd) {
  pollfd waits{fd, POLLIN, 0};
  return ::poll(&waits, 1, 0) > 0;
}

}  // namespace kbench
