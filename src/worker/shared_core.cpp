// SPDX-License-Identifier: MIT
#include "worker/shared_core.hpp"

namespace kbench::worker {

SharedCore::SharedCore(pid_t pid) : pid_(pid) {
  const int core = sched_getcpu();
  if (pid <= 0 || core < 0 || core >= CPU_SETSIZE) return;
  if (sched_getaffinity(0, sizeof ours_, &ours_) != 0 ||
      sched_getaffinity(pid, sizeof theirs_, &theirs_) != 0)
    return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(core), &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) return;
  // Alone on one core this thread would only be slower.
  is_shared_ = sched_setaffinity(pid, sizeof one, &one) == 0;
  if (!is_shared_) sched_setaffinity(0, sizeof ours_, &ours_);
}

SharedCore::~SharedCore() {
  if (!is_shared_) return;
  sched_setaffinity(0, sizeof ours_, &ours_);
  sched_setaffinity(pid_, sizeof theirs_, &theirs_);
}

}  // namespace kbench::worker
