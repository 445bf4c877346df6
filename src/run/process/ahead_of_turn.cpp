// SPDX-License-Identifier: MIT
#include "run/process/ahead_of_turn.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string_view>
#include <thread>

#include "run/process/process_memory.hpp"

namespace kbench::run {
namespace {

/// The most rounds; each stops the processes that started since the previous one. Even at a
/// candidate's limit of processes, the first round stops most of them.
constexpr int kStopRounds = 50;
constexpr int kNiceness = 5;
/// States of processes that do not run: stopped, zombie, dead.
constexpr std::string_view kStill = "TtZX";

/// `root` and its descendants. The parent of `root` may be the init process of its namespace, which
/// shares the memory of the fork server and must not be stopped.
std::vector<ProcessFacts> started_by(const std::vector<ProcessFacts>& all, pid_t root) {
  const auto found = std::ranges::find(all, root, &ProcessFacts::pid);
  if (found == all.end()) return {};
  const auto pids = family_of(all, root, found->parent);
  std::vector<ProcessFacts> family;
  for (const auto& process : all)
    if (std::ranges::binary_search(pids, process.pid)) family.push_back(process);
  return family;
}

/// Lowers the priority of a process and of its future children. The step is small, because a device
/// queue may wait for the process on a busy host: at niceness 10, an import of 1.6 s took 19 s.
/// Without privileges, a process cannot raise its priority again.
void step_back(pid_t pid) {
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(pid), kNiceness);
  // Autogroup scheduling gives sessions equal CPU time and ignores their processes' priorities.
  std::ofstream(fmt::format("/proc/{}/autogroup", pid)) << kNiceness << std::flush;
}

}  // namespace

void stop_families(const std::set<pid_t>& roots) {
  for (int round = 0; round < kStopRounds && !roots.empty(); ++round) {
    const auto all = running_processes();
    bool is_still = true;
    for (const pid_t root : roots)
      for (const auto& process : started_by(all, root)) {
        if (kStill.find(process.state) != std::string_view::npos) continue;
        is_still = false;
        ::kill(process.pid, SIGSTOP);
      }
    if (is_still) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void continue_families(const std::set<pid_t>& roots) {
  if (roots.empty()) return;
  const auto all = running_processes();
  for (const pid_t root : roots)
    for (const auto& process : started_by(all, root)) ::kill(process.pid, SIGCONT);
}

double processor_seconds(pid_t root) {
  static const double kTicks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  unsigned long long ticks = 0;
  for (const auto& process : started_by(running_processes(), root)) ticks += process.ticks;
  return static_cast<double>(ticks) / kTicks;
}

void AheadOfTurn::add(pid_t pid) {
  step_back(pid);
  const std::lock_guard lock(mutex_);
  running_.insert(pid);
  if (pauses_ > 0) stop_families({pid});
}

void AheadOfTurn::remove(pid_t pid) {
  const std::lock_guard lock(mutex_);
  running_.erase(pid);
}

bool AheadOfTurn::is_stopped() {
  const std::lock_guard lock(mutex_);
  return pauses_ > 0;
}

AheadOfTurn::Pause::Pause(AheadOfTurn& all) : all_(all) {
  const std::lock_guard lock(all_.mutex_);
  if (all_.pauses_++ == 0) stop_families(all_.running_);
}

AheadOfTurn::Pause::~Pause() {
  const std::lock_guard lock(all_.mutex_);
  if (--all_.pauses_ == 0) continue_families(all_.running_);
}

}  // namespace kbench::run
