// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <mutex>
#include <set>
#include <vector>

namespace kbench::run {

/// Stops processes and all their descendants in any process group, including those that start
/// meanwhile. Leaves out the init process of their PID namespace. `continue_families` resumes them.
void stop_families(const std::set<pid_t>& roots);
void continue_families(const std::set<pid_t>& roots);

/// CPU seconds that a process and its descendants have used. Ended descendants count if their
/// parents have waited for them.
double processor_seconds(pid_t root);

/// Processes that run a candidate's code before the candidate has device access. They compete for
/// CPUs with the candidate that has access. So they have a low priority and are stopped while a
/// time is taken. Thread-safe.
class AheadOfTurn {
 public:
  void add(pid_t pid);
  void remove(pid_t pid);
  /// True while the processes are stopped.
  bool is_stopped();

  /// Stops the processes while an object of this type lives.
  class Pause {
   public:
    explicit Pause(AheadOfTurn& all);
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    AheadOfTurn& all_;
  };

 private:
  std::mutex mutex_;
  std::set<pid_t> running_;
  int pauses_ = 0;
};

}  // namespace kbench::run
