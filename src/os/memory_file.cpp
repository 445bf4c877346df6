// SPDX-License-Identifier: MIT
#include "os/memory_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "kbench/error.hpp"

namespace kbench {
namespace {

[[noreturn]] void fail_memory_file(const char* what) {
  throw Error(fmt::format("cannot {} a file in memory: {}", what, std::strerror(errno)));
}

}  // namespace

Fd sealed_memory_file(std::string_view content) {
  Fd fd(memfd_create("kbench", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) fail_memory_file("create");
  if (write_all(fd.value(), content) < content.size()) fail_memory_file("write");
  if (fcntl(fd.value(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0)
    fail_memory_file("seal");
  return fd;
}

std::string read_whole(int fd) {
  const off_t size = lseek(fd, 0, SEEK_END);
  if (size < 0) fail_memory_file("read");
  std::string text(static_cast<std::size_t>(size), '\0');
  if (read_at(fd, 0, text.data(), text.size()) < text.size()) fail_memory_file("read");
  return text;
}

}  // namespace kbench
