// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "compile/compile.hpp"
#include "os/subprocess.hpp"

namespace kbench {

/// Processor time that the compilers of one candidate may take, all together. Thread-safe.
class CompileBudget {
 public:
  using Duration = std::chrono::nanoseconds;
  explicit CompileBudget(Duration all) : all_(all) {}

  Duration all() const { return all_; }
  /// 0 where it is spent.
  Duration left() const;
  void spend(Duration time) { spent_ += time.count(); }
  /// True once: a compile that took too long may be tried again.
  bool take_second_try() { return !second_try_taken_.exchange(true); }

 private:
  Duration all_;
  std::atomic<Duration::rep> spent_{0};
  std::atomic<bool> second_try_taken_ = false;
};

/// The processor time of one compile, which may run several commands, side by side too. What it
/// takes is taken from the candidate's budget as well. A compiler that waits is charged a tenth of
/// the time that passes, so that none waits for ever.
class CompileTime {
 public:
  /// `budget` may be null. Both are to outlive this.
  CompileTime(std::chrono::milliseconds limit, CompileBudget* budget)
      : own_(limit), budget_(budget) {}

  /// Runs a command as run_command() does; its limit is what is left.
  CommandResult run(const SpawnOptions& options, std::string_view input,
                    std::size_t max_output_bytes, int cancel_fd);
  /// The limit that a compile has come to: of the candidate where its budget is spent, else its
  /// own.
  std::chrono::milliseconds limit() const;
  /// Whether a command came to the limit by waiting: for the processor, or for something else that
  /// others hold.
  bool has_waited() const { return has_waited_; }

 private:
  CompileBudget::Duration left() const;

  CompileBudget own_;
  CompileBudget* budget_;
  std::atomic<bool> has_waited_ = false;
};

/// Processor time of a process and all below it so far, with that of those which have ended and
/// were waited for; 0 where there is no such process.
std::chrono::nanoseconds processor_time(pid_t root);

/// What becomes of a compile that a spent budget leaves no time for.
CompileError budget_is_spent(const CompileBudget& budget);

}  // namespace kbench
