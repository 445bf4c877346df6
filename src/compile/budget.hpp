// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "compile/compile.hpp"
#include "os/subprocess.hpp"

namespace kbench {

/// The processor time that all compilers of one candidate together may use. Thread-safe.
class CompileBudget {
 public:
  using Duration = std::chrono::nanoseconds;
  explicit CompileBudget(Duration all) : all_(all) {}

  Duration all() const { return all_; }
  /// The rest of the time; 0 if all is used up.
  Duration left() const;
  void spend(Duration time) { spent_ += time.count(); }
  /// True at the first call only, because one compile per candidate may be tried again after a
  /// timeout.
  bool take_second_try() { return !second_try_taken_.exchange(true); }

 private:
  Duration all_;
  std::atomic<Duration::rep> spent_{0};
  std::atomic<bool> second_try_taken_ = false;
};

/// The processor time of one compile, which may run several commands in parallel. It also counts
/// against the candidate's budget. A waiting compiler is charged a tenth of the elapsed time, so it
/// cannot wait forever.
class CompileTime {
 public:
  /// `budget` may be null; it must outlive this object.
  CompileTime(std::chrono::milliseconds limit, CompileBudget* budget)
      : own_(limit), budget_(budget) {}

  /// Runs a command as run_command() does, limited by the remaining time.
  CommandResult run(const SpawnOptions& options, std::string_view input,
                    std::size_t max_output_bytes, int cancel_fd);
  /// The limit of the compile: the candidate's, if that budget is used up or smaller, else its own.
  std::chrono::milliseconds limit() const;
  /// True if a command reached the limit by waiting, for example for a processor, and not by
  /// working.
  bool has_waited() const { return has_waited_; }

 private:
  CompileBudget::Duration left() const;

  CompileBudget own_;
  CompileBudget* budget_;
  std::atomic<bool> has_waited_ = false;
};

/// Processor time so far of process `root` and its descendants, including ended ones that were
/// waited for. 0 if there is no such process.
std::chrono::nanoseconds processor_time(pid_t root);

/// The error of a compile for which a spent budget leaves no time.
CompileError budget_is_spent(const CompileBudget& budget);

}  // namespace kbench
