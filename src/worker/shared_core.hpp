// SPDX-License-Identifier: MIT
#pragma once

#include <sched.h>
#include <sys/types.h>

namespace kbench::worker {

/// While it lives, this thread and the first one of the process `pid` run on one core, the one on
/// which this thread is. Of two that take turns neither is then on a slower core than the other,
/// and who is next finds the core awake and their common code in its caches. Does nothing where
/// `pid` is not positive, or another core may not be chosen; afterwards both may run where they
/// could before. Linux's sched_setaffinity().
class SharedCore {
 public:
  explicit SharedCore(pid_t pid);
  ~SharedCore();
  SharedCore(const SharedCore&) = delete;
  SharedCore& operator=(const SharedCore&) = delete;

 private:
  pid_t pid_;
  cpu_set_t ours_{}, theirs_{};
  bool is_shared_ = false;
};

}  // namespace kbench::worker
