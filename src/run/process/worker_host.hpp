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

/// The run was cancelled: unwinds to the lane's end.
struct Cancelled {};

/// How long the driver waits for kbench's own processes before it calls them dead.
struct WorkerLimits {
  using Limit = std::chrono::milliseconds;
  Limit start = std::chrono::seconds(180);  ///< importing torch
  Limit fork = std::chrono::seconds(60);
  Limit exit = std::chrono::seconds(60);      ///< a killed child's end
  Limit problem = std::chrono::seconds(600);  ///< it may import much and draw gigabytes
  Limit health = std::chrono::seconds(20);
  Limit settle = std::chrono::seconds(10);    ///< what was started ahead, before a time is taken
  Limit verdict = std::chrono::seconds(900);  ///< one candidate: drawing and comparing included
  Limit answer = std::chrono::seconds(60);    ///< a verdict, once the candidate has been killed
};

/// Standard output and error of a child: a fixed amount of memory that the child writes into and
/// cannot outgrow, so that nothing has to drain it while it runs.
class ChildLog {
 public:
  ChildLog();
  int fd() const { return fd_.value(); }
  /// What was written so far.
  std::string text() const;
  /// Whether more was written than there is room for.
  bool is_full() const;

 private:
  Fd fd_;
};

/// Where a process runs that is forked.
struct ForkPlace {
  std::filesystem::path folder = {};  ///< a candidate in its cage writes to this one alone
  std::string device = {};            ///< of a spare: what it opens
  std::string visible_gpu = {};  ///< it sees no other GPU; empty: as WorkerHost::show_gpu() says
};

/// The zygote, seen from the driver: forks judges and candidates, and learns of their ends.
/// Thread-safe.
class WorkerHost {
 public:
  /// Starts kbench-worker and returns at once. A readable `cancel_fd` ends the waits for torch and
  /// for forks, which throw Cancelled; those for a child's end are short and go on.
  /// Folders of `hidden` are not shown to candidates by their cage.
  WorkerHost(const Installation& installation, int cancel_fd, WorkerLimits limits = {},
             const std::vector<std::filesystem::path>& hidden = {});
  ~WorkerHost();

  const WorkerLimits& limits() const { return limits_; }
  /// Version of torch; waits until the zygote has imported it. Throws kbench::Error or Cancelled.
  const std::string& torch_version();

  /// Whether candidates are caged from here on; they are unless somebody says no.
  void cage_candidates(bool caged) { cages_ = caged; }
  /// The GPU that a process sees whose ForkPlace names none, as in GpuInfo; empty, which it is at
  /// first: all that this process sees. Before the first fork.
  void show_gpu(std::string uuid) { shown_gpu_ = std::move(uuid); }
  /// Forks a "judge", a "candidate" or a "spare" (a candidate whose job comes later) with its
  /// descriptors (channel, log[, job or the channel for it]), or a process that tells the "values"
  /// of a problem (a file for them, log, problem). Throws kbench::Error or Cancelled.
  pid_t fork(const std::string& role, std::uint64_t nonce, const std::vector<int>& fds,
             const ForkPlace& place = {});
  /// Processes of candidates whose turn is not yet.
  AheadOfTurn& ahead_of_turn() { return ahead_of_turn_; }
  /// What candidates may know of their problems.
  ProblemValues& problem_values() { return *problem_values_; }
  /// How a child ended, waiting at most until `deadline`.
  std::optional<ExitStatus> wait_exit(pid_t pid, protocol::Clock::time_point deadline);
  /// Stops a child and all that it has started, or lets them go on.
  void freeze_child(pid_t pid, bool frozen);
  /// A signal to the child's process group.
  void signal_child(pid_t pid, int signal);
  void end_child(pid_t pid) { signal_child(pid, SIGKILL); }
  /// The same, and waits for its end.
  ExitStatus kill_child(pid_t pid);
  /// Kills the child, and all that it has started, when they have more memory than that together.
  void watch_memory(pid_t pid, std::size_t limit_bytes);
  /// True where the watch has killed it.
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
  std::atomic<bool> cages_ = true;
  std::string shown_gpu_;
  ChildLog log_;
  Child zygote_;
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
  std::set<pid_t> near_limit_;  ///< those over it at the last look, if files in memory count
  std::map<pid_t, std::unique_ptr<MemoryGroup>> memory_groups_;  ///< where they are to be had
  protocol::Clock::time_point memory_checked_;
  std::set<pid_t> over_memory_;
  AheadOfTurn ahead_of_turn_;
  std::unique_ptr<ProblemValues> problem_values_;
  std::thread reader_;
};

}  // namespace kbench::run
