// SPDX-License-Identifier: MIT
#include "worker/device/host_tasks.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "base/text.hpp"

namespace kbench::worker {
namespace {

constexpr std::size_t kPageBytes = 4096;
/// Pages per system call; it accepts no more.
constexpr std::size_t kPages = 1024;
constexpr auto kPause = std::chrono::microseconds(100);
/// After a SIGSTOP, the threads of a process stop within this time, even if many wait for a
/// processor.
constexpr auto kStopping = std::chrono::milliseconds(500);
constexpr auto kBetweenLooks = std::chrono::microseconds(50);
constexpr int kEqualLooks = 3;
/// Several checks, because a thread that is about to get a lock seems to sleep.
constexpr int kIdleLooks = 3;
/// The first process of a pid namespace.
constexpr pid_t kInit = 1;

/// The entries of a folder of /proc that are numbers.
std::set<pid_t> numbers_in(const std::string& folder) {
  std::set<pid_t> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), &closedir);
  if (!entries) return numbers;
  while (const dirent* entry = readdir(entries.get())) {
    if (const auto number = to_number<pid_t>(entry->d_name)) numbers.insert(*number);
  }
  return numbers;
}

/// A thread's state in /proc: 'R' running, 'D' waiting for a disk or a page, 'S' asleep, 'T' and
/// 't' stopped, 'Z' ended; 'X' if there is no such thread.
char state_of(const std::string& folder) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen((folder + "/stat").c_str(), "re"),
                                                   &fclose);
  std::array<char, 512> text{};
  if (!file || fread(text.data(), 1, text.size() - 1, file.get()) == 0) return 'X';
  // The name before the state may contain any characters.
  const char* name_end = std::strrchr(text.data(), ')');
  return name_end != nullptr && name_end[1] == ' ' ? name_end[2] : 'X';
}

bool has_ended(char state) { return state == 'Z' || state == 'X'; }

bool is_at_work(const std::string& folder) {
  const char state = state_of(folder);
  return state == 'R' || state == 'D';
}

bool is_process_at_work(pid_t process) {
  const std::string tasks = fmt::format("/proc/{}/task", process);
  return std::ranges::any_of(
      numbers_in(tasks), [&](pid_t task) { return is_at_work(fmt::format("{}/{}", tasks, task)); });
}

bool is_any_at_work(const HostTasks& tasks) {
  return std::ranges::any_of(
             tasks.threads,
             [](pid_t thread) { return is_at_work(fmt::format("/proc/self/task/{}", thread)); }) ||
         std::ranges::any_of(tasks.processes, is_process_at_work);
}

std::set<pid_t> without(const std::set<pid_t>& those, const std::set<pid_t>& others) {
  std::set<pid_t> left;
  std::ranges::set_difference(those, others, std::inserter(left, left.end()));
  return left;
}

}  // namespace

HostTasks host_tasks() {
  HostTasks tasks;
  tasks.threads = numbers_in("/proc/self/task");
  tasks.threads.erase(gettid());
  // Without a pid namespace, /proc shows all processes of the machine.
  if (getppid() != kInit) return tasks;
  tasks.processes = numbers_in("/proc");
  tasks.processes.erase(kInit);
  tasks.processes.erase(getpid());
  std::erase_if(tasks.processes, [](pid_t process) {
    return has_ended(state_of(fmt::format("/proc/{}", process)));
  });
  return tasks;
}

HostTasks begun_since(const HostTasks& before) {
  const HostTasks now = host_tasks();
  return {without(now.threads, before.threads), without(now.processes, before.processes)};
}

bool wait_until_idle(const HostTasks& tasks, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  for (int idle = 0; idle < kIdleLooks;) {
    std::this_thread::sleep_for(kPause);
    idle = is_any_at_work(tasks) ? 0 : idle + 1;
    if (std::chrono::steady_clock::now() > end) return false;
  }
  return true;
}

bool has_stopped(pid_t process) {
  const std::string tasks = fmt::format("/proc/{}/task", process);
  return std::ranges::all_of(numbers_in(tasks), [&](pid_t task) {
    const char state = state_of(fmt::format("{}/{}", tasks, task));
    return state == 'T' || state == 't' || has_ended(state);
  });
}

std::optional<double> processor_s(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0)
    return std::nullopt;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Stopped wait_until_stopped(pid_t process) {
  const auto deadline = std::chrono::steady_clock::now() + kStopping;
  const auto first = processor_s(process);
  int equal = 0;
  for (auto last = first;;) {
    const bool stopped = has_stopped(process);
    std::this_thread::sleep_for(kBetweenLooks);
    const auto now = processor_s(process);
    // A stopped thread may still be leaving its processor. The time since the kernel's last tick,
    // perhaps milliseconds, is only counted when it has left.
    equal = stopped && now == last ? equal + 1 : 0;
    if (equal == kEqualLooks) return {now, 0};
    last = now;
    if (std::chrono::steady_clock::now() > deadline) return {now, first && now ? *now - *first : 0};
  }
}

bool is_readable(const std::byte* data, std::size_t size_bytes) {
  std::array<int, 2> ends{};
  if (size_bytes == 0 || pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return true;
  // write() reads the memory in the kernel, which returns an error instead of a fault.
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(data);
  std::uintptr_t at = begin;
  bool readable = true;
  while (readable && at < begin + size_bytes) {
    std::array<iovec, kPages> bytes{};
    std::size_t count = 0;
    for (; count < kPages && at < begin + size_bytes; ++count) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): an address among those of a tensor
      bytes[count] = {reinterpret_cast<void*>(at), 1};
      at = (at / kPageBytes + 1) * kPageBytes;
    }
    const ssize_t written = writev(ends[1], bytes.data(), static_cast<int>(count));
    // If only some pages are readable, writev() returns a smaller number.
    readable = written < 0 ? errno != EFAULT : written == static_cast<ssize_t>(count);
    std::array<char, kPages> ignored{};
    if (written > 0) readable = read(ends[0], ignored.data(), ignored.size()) > 0 && readable;
  }
  close(ends[0]);
  close(ends[1]);
  return readable;
}

}  // namespace kbench::worker
