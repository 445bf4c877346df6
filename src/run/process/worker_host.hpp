// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "os/installation.hpp"
#include "os/subprocess.hpp"
#include "protocol/protocol.hpp"
#include "run/process/ahead_of_turn.hpp"

namespace kbench::run {

class MemoryGroup;
class ProblemValues;

/// Thrown if the run was cancelled; unwinds to the end of the device queue.
struct Cancelled {};

/// How long kbench waits for its own processes before it treats them as dead.
struct WorkerLimits {
  using Limit = std::chrono::milliseconds;
  Limit start = std::chrono::seconds(180);  ///< importing torch
  Limit fork = std::chrono::seconds(60);
  Limit exit = std::chrono::seconds(60);      ///< until a killed child ends
  Limit problem = std::chrono::seconds(600);  ///< it may import many modules and draw gigabytes
  Limit health = std::chrono::seconds(20);
  Limit settle = std::chrono::seconds(10);    ///< until prefetched processes are ready for timing
  Limit verdict = std::chrono::seconds(900);  ///< one candidate, with drawing and comparing
  Limit answer = std::chrono::seconds(60);    ///< a verdict after the candidate was killed
};

/// Standard output and error of a child, in a sealed memory file of fixed size. The child cannot
/// write more, and nothing has to read it while the child runs.
class ChildLog {
 public:
  ChildLog();
  int fd() const { return fd_.value(); }
  std::string text() const;
  /// True if the child wrote more than the limit.
  bool is_full() const;

 private:
  Fd fd_;
};

/// The folder, device and GPU of a forked process.
struct ForkPlace {
  std::filesystem::path folder = {};  ///< the only one a sandboxed candidate may write to
  std::string device = {};            ///< for a warm process: the device that it opens
  std::string visible_gpu = {};       ///< the only GPU it sees; empty: show_gpu() decides
};

/// kbench's side of the fork server: forks judges and candidates, and learns how they end.
/// Thread-safe.
class WorkerHost {
 public:
  /// Starts kbench-worker and returns at once. If `cancel_fd` becomes readable, waiting for torch
  /// or a fork throws Cancelled; waiting for a child's end is short and continues. The candidates'
  /// sandbox hides the folders in `hidden`.
  WorkerHost(const Installation& installation, int cancel_fd, WorkerLimits limits = {},
             const std::vector<std::filesystem::path>& hidden = {});
  ~WorkerHost();

  const WorkerLimits& limits() const { return limits_; }
  /// Version of torch. Waits until the fork server has imported it. Throws kbench::Error or
  /// Cancelled.
  const std::string& torch_version();

  /// Lets later candidates run in the sandbox (the default) or without it.
  void sandbox_candidates(bool sandboxed) { sandboxes_ = sandboxed; }
  /// Sets the GPU, as in GpuInfo, for processes whose ForkPlace names none. Empty (the default):
  /// all GPUs that this process sees. Call it before the first fork.
  void show_gpu(std::string uuid) { shown_gpu_ = std::move(uuid); }
  /// Forks a process of a role. "judge", "candidate" and "warm_process" (a candidate that gets its
  /// job later) get descriptors (channel, log[, job or the channel for it]). "values", which packs
  /// the values of a problem, gets (result file, log, problem). Throws kbench::Error or Cancelled.
  pid_t fork(const std::string& role, std::uint64_t nonce, const std::vector<int>& fds,
             const ForkPlace& place = {});
  /// Processes of candidates that do not have device access yet.
  AheadOfTurn& ahead_of_turn() { return ahead_of_turn_; }
  /// The values that candidates may read of their problems.
  ProblemValues& problem_values() { return *problem_values_; }
  /// How a child ended; nothing if it has not ended by `deadline`.
  std::optional<ExitStatus> wait_exit(pid_t pid, protocol::Clock::time_point deadline);
  /// Stops (`frozen`) or resumes a child and its descendants.
  void freeze_child(pid_t pid, bool frozen);
  /// Sends a signal to the child's process group.
  void signal_child(pid_t pid, int signal);
  void end_child(pid_t pid) { signal_child(pid, SIGKILL); }
  /// Kills the child's process group and waits until the child ends. Throws kbench::Error if it
  /// does not.
  ExitStatus kill_child(pid_t pid);
  /// Kills the child and its descendants if they use more than `limit_bytes` of memory together.
  void watch_memory(pid_t pid, std::size_t limit_bytes);
  /// True if watch_memory() or the kernel killed the child for its memory.
  bool over_memory(pid_t pid);

 private:
  void read_messages();
  void handle(const protocol::Message& message);
  void check_memory();
  bool has_too_much(pid_t pid, const std::vector<pid_t>& family, std::size_t limit_bytes);
  void check_cancel();
  [[noreturn]] void throw_dead();

  int cancel_fd_;
  WorkerLimits limits_;
  std::atomic<bool> sandboxes_ = true;
  std::string shown_gpu_;
  ChildLog log_;
  Child fork_server_;
  protocol::Channel channel_;
  Fd stop_read_, stop_write_;
  std::mutex mutex_;
  std::mutex send_mutex_;
  std::condition_variable changed_;
  bool dead_ = false;
  bool cancelled_ = false;
  std::string torch_;
  std::uint64_t next_id_ = 0;
  std::map<std::uint64_t, pid_t> forked_;
  std::map<pid_t, ExitStatus> exited_;
  std::map<pid_t, std::size_t> memory_limits_;
  std::set<pid_t> near_limit_;  ///< over the limit at the last check, with memory files
  std::map<pid_t, std::unique_ptr<MemoryGroup>> memory_groups_;  ///< if the machine allows them
  protocol::Clock::time_point memory_checked_;
  std::set<pid_t> over_memory_;
  AheadOfTurn ahead_of_turn_;
  std::unique_ptr<ProblemValues> problem_values_;
  std::thread reader_;
};

}  // namespace kbench::run
