// SPDX-License-Identifier: MIT
#include "run/process/worker_host.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "kbench/error.hpp"
#include "os/installation.hpp"
#include "os/memory_file.hpp"
#include "run/process/memory_group.hpp"
#include "run/process/problem_values.hpp"
#include "run/process/process_memory.hpp"

namespace kbench::run {
namespace {

using nlohmann::json;
using protocol::MessageType;

/// The limit of a candidate's output. The file is larger, so that a longer output can be detected.
/// The kernel refuses writes past its last page.
constexpr std::size_t kLogBytes = 1u << 20;
constexpr std::size_t kLogRoomBytes = kLogBytes + (64u << 10);
/// How often memory and cancellation are checked.
constexpr auto kLookPeriod = std::chrono::milliseconds(100);

/// Paths that a sandboxed candidate may read: libraries that extensions are linked with, and
/// headers.
std::vector<std::filesystem::path> readable_by_candidates(const Installation& installation) {
  std::vector<std::filesystem::path> paths{installation.cache / "host-headers"};
  if (!installation.torch_lib.empty()) paths.push_back(installation.torch_lib);
  if (!installation.nvrtc.empty()) paths.push_back(installation.nvrtc.parent_path());
  for (const auto* folders :
       {&installation.cuda_includes, &installation.torch_includes, &installation.python_includes})
    paths.insert(paths.end(), folders->begin(), folders->end());
  return paths;
}

/// The parent of `pid`, which separates the descendants of `pid` from the process that started it.
pid_t parent_of(const std::vector<ProcessFacts>& running, pid_t pid) {
  const auto found = std::ranges::find(running, pid, &ProcessFacts::pid);
  return found == running.end() ? -1 : found->parent;
}

}  // namespace

ChildLog::ChildLog() : fd_(memfd_create("kbench-log", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (!fd_ || ftruncate(fd_.value(), kLogRoomBytes) != 0 ||
      fcntl(fd_.value(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) != 0)
    throw Error(fmt::format("cannot create a log in memory: {}", std::strerror(errno)));
}

std::string ChildLog::text() const {
  // The child shares the descriptor, and with it the position.
  const off_t end = std::min<off_t>(lseek(fd_.value(), 0, SEEK_CUR), kLogBytes);
  std::string text(static_cast<std::size_t>(std::max<off_t>(end, 0)), '\0');
  const ssize_t got = pread(fd_.value(), text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

bool ChildLog::is_full() const { return lseek(fd_.value(), 0, SEEK_CUR) > off_t{kLogBytes}; }

WorkerHost::WorkerHost(const Installation& installation, int cancel_fd, WorkerLimits limits,
                       const std::vector<std::filesystem::path>& hidden)
    : cancel_fd_(cancel_fd),
      limits_(limits),
      problem_values_(std::make_unique<ProblemValues>(*this, cancel_fd)) {
  auto [ours, theirs] = socket_pair();
  const std::uint64_t nonce = protocol::random_nonce();
  SpawnOptions spawn;
  spawn.command = {installation.worker.string(), "3", fmt::format("{:x}", nonce),
                   installation.python.string(), (installation.cache / "bytecode").string()};
  const auto readable = readable_by_candidates(installation);
  // The headers may be made while a sandboxed candidate waits for them. The folder must exist now,
  // because the sandbox cannot allow a path that does not exist yet.
  std::error_code ignored;
  if (!installation.cache.empty()) std::filesystem::create_directories(readable.front(), ignored);
  for (const auto& path : readable) spawn.command.push_back(path.string());
  // Passed as a file, because the names may not fit on a command line.
  std::string names;
  for (const auto& folder : hidden) names += folder.string() + '\0';
  const Fd names_file = sealed_memory_file(names);
  spawn.fds = {{theirs.value(), 3},
               {names_file.value(), protocol::kHiddenFoldersFd},
               {log_.fd(), STDOUT_FILENO},
               {log_.fd(), STDERR_FILENO}};
  // libgomp reads this when it is loaded. Otherwise its threads spin while they wait, and take CPUs
  // from compilers and other processes: two runs in parallel took 1.5 times as long.
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) spawn.env = {{"OMP_WAIT_POLICY", "passive"}};
  fork_server_ = Child(spawn);
  channel_ = protocol::Channel(std::move(ours), nonce, protocol::kMaxBody);
  std::tie(stop_read_, stop_write_) = socket_pair();
  reader_ = std::thread([this] { read_messages(); });
}

WorkerHost::~WorkerHost() {
  stop_write_.reset();
  if (reader_.joinable()) reader_.join();
  // Without its channel, the fork server kills all children and ends. This waits for that.
  channel_ = {};
  fork_server_.kill_group();
}

void WorkerHost::read_messages() {
  while (true) {
    protocol::Message message;
    auto status =
        channel_.receive(message, protocol::Clock::now() + kLookPeriod, stop_read_.value());
    try {
      if (status == protocol::ReceiveStatus::kOk) handle(message);
    } catch (const json::exception&) {
      status = protocol::ReceiveStatus::kMalformed;
    }
    if (status != protocol::ReceiveStatus::kOk && status != protocol::ReceiveStatus::kTimeout) {
      const std::lock_guard lock(mutex_);
      dead_ = true;
      changed_.notify_all();
      return;
    }
    check_memory();
    check_cancel();
  }
}

void WorkerHost::handle(const protocol::Message& message) {
  const json body = json::parse(message.body);
  const std::lock_guard lock(mutex_);
  if (message.type == MessageType::kReady) {
    torch_ = body.at("torch");
  } else if (message.type == MessageType::kForked) {
    forked_[body.at("id")] = body.at("pid");
  } else if (message.type == MessageType::kExited) {
    const pid_t pid = body.at("pid");
    exited_[pid] = {body.at("signaled"), body.at("code")};
    memory_limits_.erase(pid);
  }
  changed_.notify_all();
}

void WorkerHost::check_memory() {
  const std::lock_guard lock(mutex_);
  const auto now = protocol::Clock::now();
  if (memory_limits_.empty() || now - memory_checked_ < kLookPeriod) return;
  memory_checked_ = now;
  const auto running = running_processes();
  for (const auto& [pid, limit] : memory_limits_) {
    const auto family = family_of(running, pid, fork_server_.pid());
    if (sandboxes_) let_go_first(family_of(running, pid, parent_of(running, pid)));
    if (!has_too_much(pid, family, limit - std::min(limit, own_files_bytes(pid)))) continue;
    over_memory_.insert(pid);
    kill(-pid, SIGKILL);
    // Kills processes that left the group. The kernel does not reuse PIDs this quickly.
    for (const pid_t one : family) kill(one, SIGKILL);
  }
}

bool WorkerHost::has_too_much(pid_t pid, const std::vector<pid_t>& family,
                              std::size_t limit_bytes) {
  const auto group = memory_groups_.find(pid);
  if (group != memory_groups_.end() && group->second->is_over()) return true;
  if (have_more_memory(family, limit_bytes)) return true;
  const MemoryFiles files = memory_files_of(family);
  const bool is_over = !files.empty() && have_more_memory(family, limit_bytes, files);
  // The process holds the judge's files for a short time until they are mapped, so it is killed
  // only after two checks in a row.
  const bool was_over = near_limit_.erase(pid) > 0;
  if (is_over) near_limit_.insert(pid);
  return is_over && was_over;
}

void WorkerHost::check_cancel() {
  if (!is_readable(cancel_fd_)) return;
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  changed_.notify_all();
}

void WorkerHost::throw_dead() {
  const std::string log = log_.text();
  throw Error(
      fmt::format("kbench-worker is not running{}{}; run kbench doctor to see what is missing",
                  log.empty() ? "" : ": ", log));
}

const std::string& WorkerHost::torch_version() {
  std::unique_lock lock(mutex_);
  const bool ready = changed_.wait_for(lock, limits_.start,
                                       [this] { return dead_ || cancelled_ || !torch_.empty(); });
  if (!ready) throw Error("kbench-worker did not import torch in time; run kbench doctor");
  if (!torch_.empty()) return torch_;
  if (cancelled_) throw Cancelled{};
  throw_dead();
}

pid_t WorkerHost::fork(const std::string& role, std::uint64_t nonce, const std::vector<int>& fds,
                       const ForkPlace& place) {
  torch_version();
  std::unique_lock lock(mutex_);
  const std::uint64_t id = next_id_++;
  lock.unlock();
  {
    const json body{{"id", id},
                    {"role", role},
                    {"nonce", nonce},
                    {"device", place.device},
                    {"visible_gpu", place.visible_gpu.empty() ? shown_gpu_ : place.visible_gpu},
                    {"sandbox", sandboxes_ && role != "judge" && role != "values"},
                    {"folder", place.folder.string()}};
    const std::lock_guard send_lock(send_mutex_);
    channel_.send(MessageType::kFork, body.dump(), fds);
  }
  lock.lock();
  const bool answered = changed_.wait_for(
      lock, limits_.fork, [&] { return dead_ || cancelled_ || forked_.contains(id); });
  if (!answered) throw Error("kbench-worker does not answer; run kbench doctor");
  if (!forked_.contains(id) && cancelled_) throw Cancelled{};
  if (!forked_.contains(id)) throw_dead();
  const pid_t pid = forked_.at(id);
  forked_.erase(id);
  // Also rejects 0 and 1, because a signal to these groups would reach far more processes.
  if (pid <= 1) throw Error("kbench-worker cannot fork: too many processes or too little memory");
  return pid;
}

std::optional<ExitStatus> WorkerHost::wait_exit(pid_t pid, protocol::Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline, [&] { return dead_ || exited_.contains(pid); });
  const auto found = exited_.find(pid);
  if (found == exited_.end()) return std::nullopt;
  return found->second;
}

void WorkerHost::signal_child(pid_t pid, int signal) {
  const std::lock_guard lock(mutex_);
  // After a child was reaped, its PID may belong to another process.
  if (!exited_.contains(pid)) kill(-pid, signal);
}

void WorkerHost::freeze_child(pid_t pid, bool frozen) {
  {
    const std::lock_guard lock(mutex_);
    if (exited_.contains(pid)) return;
  }
  frozen ? stop_families({pid}) : continue_families({pid});
}

ExitStatus WorkerHost::kill_child(pid_t pid) {
  end_child(pid);
  const auto status = wait_exit(pid, protocol::Clock::now() + limits_.exit);
  if (!status)
    throw Error(fmt::format(
        "process {} does not end after SIGKILL; the GPU driver may hang: see dmesg", pid));
  const std::lock_guard lock(mutex_);
  exited_.erase(pid);
  over_memory_.erase(pid);
  near_limit_.erase(pid);
  memory_groups_.erase(pid);
  return *status;
}

void WorkerHost::watch_memory(pid_t pid, std::size_t limit_bytes) {
  auto group = MemoryGroup::make(limit_bytes);
  if (group) {
    // Leaves out the init process of the child's namespace, which shares the fork server's memory.
    const auto running = running_processes();
    if (!group->add(family_of(running, pid, parent_of(running, pid)))) group.reset();
  }
  const std::lock_guard lock(mutex_);
  if (exited_.contains(pid)) return;
  memory_limits_[pid] = limit_bytes;
  if (group) memory_groups_[pid] = std::move(group);
}

bool WorkerHost::over_memory(pid_t pid) {
  const std::lock_guard lock(mutex_);
  const auto group = memory_groups_.find(pid);
  return over_memory_.contains(pid) || (group != memory_groups_.end() && group->second->is_over());
}

}  // namespace kbench::run
