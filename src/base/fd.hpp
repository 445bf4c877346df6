// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace kbench {

/// A file descriptor that closes itself.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd() { reset(); }
  int value() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

/// Repeats a system call that signals interrupt.
template <typename Call>
auto retry_on_signal(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

/// Reads `size` bytes from `offset` on. Returns how many; if fewer, errno tells why, and is 0 at
/// the end of the file.
std::size_t read_at(int fd, std::uint64_t offset, char* into, std::size_t size);

/// Writes `bytes`. Returns how many; if fewer, errno tells why.
std::size_t write_all(int fd, std::string_view bytes);

/// True if a read would not block, as on a cancel descriptor after a write.
bool is_readable(int fd);

}  // namespace kbench
