// SPDX-License-Identifier: MIT
#include "base/fd.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace kbench {
namespace {

/// Calls `move(done)`, which returns as read() and write() do, until it has moved `size` bytes.
template <typename Move>
std::size_t move_all(std::size_t size, int at_end, Move move) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t n = retry_on_signal([&] { return move(done); });
    if (n == 0) errno = at_end;
    if (n <= 0) return done;
    done += static_cast<std::size_t>(n);
  }
  return size;
}

}  // namespace

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

std::size_t read_at(int fd, std::uint64_t offset, char* into, std::size_t size) {
  return move_all(size, 0, [&](std::size_t done) {
    return ::pread(fd, into + done, size - done, static_cast<off_t>(offset + done));
  });
}

std::size_t write_all(int fd, std::string_view bytes) {
  return move_all(bytes.size(), ENOSPC, [&](std::size_t done) {
    return ::write(fd, bytes.data() + done, bytes.size() - done);
  });
}

bool is_readable(int fd) {
  pollfd waits{fd, POLLIN, 0};
  return ::poll(&waits, 1, 0) > 0;
}

}  // namespace kbench
