// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <set>

/// Threads and processes that a candidate starts on the host. All work of a call counts in its
/// time, in every thread, as it does in all streams of a GPU.
namespace kbench::worker {

/// Threads of this process and, in a sandbox with its own pid namespace, other processes.
struct HostTasks {
  std::set<pid_t> threads;
  std::set<pid_t> processes;  ///< processes that have not ended
};

/// The present tasks, without the calling thread.
HostTasks host_tasks();

/// The present tasks that are not in `before`.
HostTasks begun_since(const HostTasks& before);

/// Waits, for at most `limit`, until all of these tasks have ended or sleep. False if one still
/// runs.
bool wait_until_idle(const HostTasks& tasks, std::chrono::milliseconds limit);

/// True if each thread of a process is stopped or has ended. A thread that got the signal but waits
/// for a processor is not stopped: it uses no processor, but has not handled the signal yet.
bool has_stopped(pid_t process);

/// Processor time of all threads of a process, in seconds; nothing if the kernel does not report
/// it.
std::optional<double> processor_s(pid_t process);

/// The result of waiting for a process to stop.
struct Stopped {
  std::optional<double> processor_s;  ///< processor time at the end of the wait
  double went_on_s = 0;               ///< processor time used in the wait, if it did not stop
};

/// Waits, for at most half a second, until no thread of a process runs.
Stopped wait_until_stopped(pid_t process);

/// True if each page of this memory can be read without a fault handler.
bool is_readable(const std::byte* data, std::size_t size_bytes);

}  // namespace kbench::worker
