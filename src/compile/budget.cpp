// SPDX-License-Identifier: MIT
#include "compile/budget.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "os/process_facts.hpp"
#include "os/watched_command.hpp"

namespace kbench {
namespace {

namespace fs = std::filesystem;
using Duration = CompileBudget::Duration;
using Clock = std::chrono::steady_clock;

/// A waiting compiler is charged 1/kShareOfWaiting of the elapsed time.
constexpr int kShareOfWaiting = 10;
constexpr std::chrono::milliseconds kShortestLook{10};
constexpr std::chrono::milliseconds kLongestLook{250};
/// This many checks fit into the time in which all cores together could use up the rest.
constexpr int kLooks = 4;

/// All processes of `group`, for kernels that do not list children (no CONFIG_PROC_CHILDREN). It
/// finds all of a compiler's processes, because a compiler cannot leave its group.
std::vector<pid_t> members_of(pid_t group) {
  std::vector<pid_t> members;
  for (const ProcessFacts& process : running_processes())
    if (process.group == group) members.push_back(process.pid);
  return members;
}

void add_children(pid_t pid, std::vector<pid_t>& processes) {
  std::error_code gone;
  for (const auto& thread : fs::directory_iterator(fmt::format("/proc/{}/task", pid), gone)) {
    std::ifstream children(thread.path() / "children");
    for (pid_t child = 0; children >> child;) processes.push_back(child);
  }
}

}  // namespace

Duration CompileBudget::left() const {
  return std::max(Duration::zero(), all_ - Duration(spent_.load()));
}

std::chrono::nanoseconds processor_time(pid_t root) {
  static const bool kListsChildren =
      fs::exists(fmt::format("/proc/self/task/{}/children", ::gettid()));
  std::vector<pid_t> processes{root};
  if (!kListsChildren) processes = members_of(root);
  unsigned long long ticks = 0;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    if (kListsChildren) add_children(processes[i], processes);
    if (const auto facts = process_facts(processes[i])) ticks += facts->ticks;
  }
  static const long kTicksPerSecond = std::max(1L, ::sysconf(_SC_CLK_TCK));
  return std::chrono::nanoseconds(std::chrono::seconds(1)) * ticks / kTicksPerSecond;
}

Duration CompileTime::left() const {
  return budget_ == nullptr ? own_.left() : std::min(own_.left(), budget_->left());
}

std::chrono::milliseconds CompileTime::limit() const {
  const bool is_candidates =
      budget_ != nullptr && (budget_->left() == Duration::zero() || budget_->all() < own_.all());
  return std::chrono::duration_cast<std::chrono::milliseconds>(is_candidates ? budget_->all()
                                                                             : own_.all());
}

CommandResult CompileTime::run(const SpawnOptions& options, std::string_view input,
                               std::size_t max_output_bytes, int cancel_fd) {
  static const auto kCores = std::max(1u, std::thread::hardware_concurrency());
  const auto start = Clock::now();
  Duration charged{0};
  auto looked = start - kShortestLook;
  const auto watch = [&](pid_t group) -> std::chrono::milliseconds {
    // Compiler output also triggers this function; calls that come too soon are skipped.
    if (Clock::now() - looked < kShortestLook / 2) return kShortestLook;
    looked = Clock::now();
    const Duration waited = (Clock::now() - start) / kShareOfWaiting;
    const Duration worked = processor_time(group);
    const Duration used = std::max({charged, waited, worked});
    own_.spend(used - charged);
    if (budget_ != nullptr) budget_->spend(used - charged);
    charged = used;
    if (left() == Duration::zero()) {
      if (waited > worked) has_waited_ = true;
      return std::chrono::milliseconds(0);
    }
    const auto look = std::chrono::ceil<std::chrono::milliseconds>(left() / (kLooks * kCores));
    return std::clamp(look, kShortestLook, kLongestLook);
  };
  return run_watched_command(options, watch, input, max_output_bytes, cancel_fd);
}

CompileError budget_is_spent(const CompileBudget& budget) {
  CompileError error;
  error.limit_s = std::chrono::duration<double>(budget.all()).count();
  error.cause = "compile_timeout";
  error.message = fmt::format(
      "the candidate's compilers used up their {:g} s of processor time before they compiled "
      "this source",
      error.limit_s);
  return error;
}

}  // namespace kbench
