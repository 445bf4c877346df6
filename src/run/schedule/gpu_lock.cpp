// SPDX-License-Identifier: MIT
#include "run/schedule/gpu_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "kbench/error.hpp"
#include "os/device_probe.hpp"
#include "run/schedule/ncu.hpp"

namespace kbench::run {
namespace {

/// The folder of locks, common to all users of this machine.
constexpr const char* kLockFolder = "/tmp/kbench-locks";

}  // namespace

Fd lock_gpu(const GpuInfo& gpu) {
  if (const char* held = std::getenv(kHeldForUs); held != nullptr && gpu.uuid == held) return {};
  // The first run makes the folder and file writable for all users, with the sticky bit as for
  // /tmp.
  if (mkdir(kLockFolder, 01777) == 0) chmod(kLockFolder, 01777);
  const std::string path = fmt::format("{}/{}.lock", kLockFolder, gpu.uuid);
  Fd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (!fd)
    throw Error(
        fmt::format("cannot open {}: {}; this lock file keeps two runs from timing on one GPU",
                    path, std::strerror(errno)));
  fchmod(fd.value(), 0666);
  if (flock(fd.value(), LOCK_EX | LOCK_NB) != 0)
    throw UsageError(fmt::format(
        "GPU {} ({}, {}) is in use by another kbench run: wait for it to end, or choose another "
        "with --device cuda:N",
        gpu.index, gpu.name, gpu.uuid));
  return fd;
}

}  // namespace kbench::run
