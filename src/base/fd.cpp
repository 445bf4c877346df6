// SPDX-License-Identifier: MIT
#include "base/fd.hpp"

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

}  // namespace kbench
