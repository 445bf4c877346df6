// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <set>

/// What goes on beside a call on the host, in a candidate's process: the work of a call belongs to
/// its time wherever it is done, as that of streams does on a GPU.
namespace kbench::worker {

/// Threads of this process and, in a sandbox with a pid namespace of its own, other processes.
struct HostTasks {
  std::set<pid_t> threads;
  std::set<pid_t> processes;  ///< those that have not ended
};

/// Those that there are now, without the thread that asks.
HostTasks host_tasks();

/// Threads and processes that are there now and were not `before`.
HostTasks begun_since(const HostTasks& before);

/// Waits, for `limit` at most, until none of these is at work: each has ended, or sleeps. False
/// where one still was.
bool wait_until_idle(const HostTasks& tasks, std::chrono::milliseconds limit);

/// Whether each thread of a process is stopped or has ended. One that was told to stop and waits
/// for a processor uses none, but has not seen the signal yet.
bool has_stopped(pid_t process);

/// Seconds that all threads of a process have run; none where the kernel does not tell.
std::optional<double> processor_s(pid_t process);

/// A process that was told to stop.
struct Stopped {
  std::optional<double> processor_s;  ///< that it has used when nothing of it ran any more
  double went_on_s = 0;  ///< that it used since it was told, where it did not come to stop
};

/// Waits until no thread of a process runs any more, for half a second at most.
Stopped wait_until_stopped(pid_t process);

/// Whether each page of this memory can be read as it is, without anybody handling a fault.
bool is_readable(const std::byte* data, std::size_t size_bytes);

}  // namespace kbench::worker
