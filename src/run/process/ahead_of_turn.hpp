// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <mutex>
#include <set>
#include <vector>

namespace kbench::run {

/// Stops processes and all that they have started, whatever groups they are in, but for the init of
/// their namespaces; and lets them go on. What starts meanwhile is stopped as well.
void stop_families(const std::set<pid_t>& roots);
void continue_families(const std::set<pid_t>& roots);

/// Processor seconds that a process and all that it has started have used, of those that have ended
/// what their parents have waited for.
double processor_seconds(pid_t root);

/// Processes that run a candidate's code before its turn, on processors that a candidate in its
/// turn may need: they have a low priority, and stand still while a time is taken. Thread-safe.
class AheadOfTurn {
 public:
  void add(pid_t pid);
  void remove(pid_t pid);
  /// Whether they stand still.
  bool is_stopped();

  /// While one of these lives, they stand still.
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
